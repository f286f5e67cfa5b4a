#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import TestSupport
import Testing

@Suite("On a full volume", .enabled(if: Volume.canMount))
struct FullVolumeTests {

    private let lines = Array((1...5).map { "{\"id\":\($0)}\n" }.joined().utf8)

    /// Writes a file until there is no room left.
    private func fill(_ folder: TemporaryFolder) throws {
        let file = folder.file("fill")
        #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
        let handle = try FileHandle(forWritingTo: file)
        #expect(throws: (any Error).self) {
            for _ in 0..<1_000_000 { try handle.write(contentsOf: Data(count: 4096)) }
        }
        try handle.close()
    }

    @Test("a command that writes reports it, without SQL, and leaves no log behind")
    func noLog() async throws {
        let place = TemporaryFolder()
        let volume = try Volume(at: place, size: "1m")
        defer { volume.unmount() }
        let store = place.file("s.db").path
        #expect(await bodega("import", store, "--key", "id", input: lines).status == 0)
        try fill(place)
        for command in [["put", store, "k"], ["rm", store, "1"], ["compact", store]] {
            let test = TestConsole(input: Array("x".utf8))
            #expect(await Tool.run(command, console: test.console) == 1)
            #expect(test.errors.text.hasPrefix("bodega: storageFull: The volume is full."), "\(test.errors.text)")
            #expect(!test.errors.text.contains("SELECT") && !test.errors.text.contains("PRAGMA"))
            let files = try FileManager.default.contentsOfDirectory(atPath: place.path).sorted()
            #expect(files == ["fill", "s.db"], "\(command[0])")
        }
        #expect(await bodega("count", store).text == "5\n")
        let verbose = await bodega("put", store, "k", "--verbose")
        #expect(verbose.errors.contains("while executing"), "\(verbose.errors)")
        // With free space again, it continues.
        try FileManager.default.removeItem(at: place.file("fill"))
        #expect(await bodega("put", store, "k").status == 0)
    }

    @Test("a synchronization that can't store what it reads ends, and goes on later")
    func synchronization() async throws {
        let (place, elsewhere) = (TemporaryFolder(), TemporaryFolder())
        let volume = try Volume(at: place, size: "8m")
        defer { volume.unmount() }
        let (remote, other) = (elsewhere.file("remote.db").path, place.file("other"))
        try Data(count: 7 << 20).write(to: other)
        let items = (1...1_500).map { "{\"id\":\($0),\"text\":\"\(String(repeating: "x", count: 1_000))\"}\n" }
        let imported = await bodega("import", remote + "#notes", "--key", "id", input: Array(items.joined().utf8))
        #expect(imported.status == 0)
        let store = place.file("s.db").path + "#notes"
        #expect(await bodega("put", store, "mine", input: Array("1".utf8)).status == 0)
        var sync = await bodega("sync", store, remote, "--timeout", "1")
        // On a slow machine, the time is over before the item is noted in the outbox, or before something has failed.
        for _ in 0..<50 where !sync.errors.contains("outbox") {
            sync = await bodega("sync", store, remote, "--timeout", "1")
        }
        #expect(sync.status == 1)
        let reasons = [
            "Nothing could be stored within 1 s: The volume is full.", "was not reached within 1 s.",
            "There was no progress with \(StorageAddress.sqlite(remote)) within 1 s.",
        ]
        #expect(reasons.contains { sync.errors.contains($0) }, "\(sync.errors)")
        #expect(sync.errors.contains("1 change stays in the outbox."))
        try FileManager.default.removeItem(at: other)
        #expect(await bodega("sync", store, remote).status == 0)
        #expect(await bodega("count", store).text == "1501\n")
        #expect(await bodega("get", store, "mine").text == "1")
    }

    @Test("another program that has the file open keeps its log")
    func logInUse() async throws {
        let place = TemporaryFolder()
        let volume = try Volume(at: place, size: "1m")
        defer { volume.unmount() }
        let store = place.file("s.db")
        #expect(await bodega("import", store.path, "--key", "id", input: lines).status == 0)
        let engine = try SQLiteStorageEngine(openingFile: store)
        try await engine.write(Data("kept".utf8), key: CacheKey("mine"))
        try fill(place)
        #expect(await bodega("put", store.path, "k", input: [UInt8](repeating: 0, count: 200_000)).status == 1)
        #expect(FileManager.default.fileExists(atPath: store.path + "-wal"))
        #expect(try await engine.fetch(key: CacheKey("mine")) == Data("kept".utf8))
        try FileManager.default.removeItem(at: place.file("fill"))
        try await engine.write(Data("again".utf8), key: CacheKey("mine"))
        #expect(await bodega("get", store.path, "mine").text == "again")
    }

    @Test("a folder's error has the system's reason and no error domain")
    func folder() async throws {
        let place = TemporaryFolder()
        let volume = try Volume(at: place, size: "1m")
        defer { volume.unmount() }
        try fill(place)
        let result = await bodega("put", "disk:\(place.path)/folder", "k", input: [1])
        #expect(result.status == 1 && result.errors.contains("(No space left on device)"), "\(result.errors)")
        #expect(!result.errors.contains("NSPOSIXErrorDomain"))
        let verbose = await bodega("put", "disk:\(place.path)/folder", "k", "--verbose", input: [1])
        #expect(verbose.errors.contains("NSPOSIXErrorDomain"), "\(verbose.errors)")
    }

    @Test("backup names the destination that is full, not the store, and leaves nothing there", arguments: [1, 2_000])
    func backup(count: Int) async throws {
        let place = TemporaryFolder()
        let volume = try Volume(at: place, size: "1m")
        defer { volume.unmount() }
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let text = String(repeating: "x", count: 2_000_000 / count)
            let items = (1...count).map { "{\"id\":\($0),\"text\":\"\(text)\"}\n" }
            #expect(await bodega("import", store, "--key", "id", input: Array(items.joined().utf8)).status == 0)
            let destination = place.file("backup.db").path
            let result = await bodega("backup", store, destination)
            #expect(result.status == 1)
            #expect(
                result.errors.contains("storageFull") && result.errors.contains("[\(destination)]"), "\(result.errors)")
            #expect(!result.errors.contains(folder.path) && !result.errors.contains("VACUUM"))
            let remains = try FileManager.default.contentsOfDirectory(atPath: place.path)
            #expect(remains.isEmpty)
        }
    }
}
#endif
