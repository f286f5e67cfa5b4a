import Bodega
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Tests that need another process.
@Suite struct ProcessTests {

    @Test(
        "Two processes and two engines of this process write to one store concurrently, and no item is lost",
        arguments: ["sqlite", "disk"])
    func twoProcesses(kind: String) async throws {
        let folder = TemporaryFolder()
        let children = try ["p", "q"].map { try Child("write", kind, folder.path, "relaxed", $0, "100") }
        let engines = try [openEngine(kind, at: folder, .relaxed), openEngine(kind, at: folder, .relaxed)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, engine) in engines.enumerated() {
                group.addTask {
                    for number in 0..<200 {
                        try await engine.write(Data("\(number)".utf8), key: CacheKey("here \(index) \(number)"))
                    }
                }
            }
            for child in children {
                group.addTask {
                    let lines = await child.lines()
                    #expect(lines.last == "done", "\(lines.suffix(3))")
                }
            }
            try await group.waitForAll()
        }
        // Each child has four writers, each with 100 items and the 5 items of its last batch.
        #expect(try await engines[0].fetchCount() == 2 * 4 * 105 + 2 * 200)
    }

    @Test("Many processes create the same store simultaneously", arguments: ["sqlite", "disk"])
    func simultaneousCreation(kind: String) async throws {
        for _ in 0..<5 {
            let folder = TemporaryFolder()
            let children = try (0..<6).map { try Child("write", kind, folder.path, "full", "p\($0)", "1") }
            for child in children { #expect(await child.lines().last == "done") }
            #expect(try await openEngine(kind, at: folder).fetchCount() == 6 * 4 * 6)
        }
    }

    @Test(
        "Reaching a limit on the size of files is reported as a full volume, loses nothing, and is recovered from",
        arguments: ["sqlite", "disk"])
    func fileSizeLimit(kind: String) async throws {
        let folder = TemporaryFolder()
        let lines = await (try Child("fill", kind, folder.path, "300000")).lines()
        let written = lines.filter { $0.hasPrefix("written") }.count
        #expect(written > 0)
        #expect(Array(lines.suffix(3)) == ["error storageFull", "count \(written)", "done"], "\(lines.suffix(5))")
        let engine = try openEngine(kind, at: folder)
        #expect(try await engine.fetchCount() == written + 1)
        for number in 0..<written {
            let data = try await engine.fetch(key: CacheKey("\(number)"))
            #expect(data == Data(repeating: UInt8(number % 256), count: number * 1000))
        }
    }

    @Test(
        "A full volume is reported, loses nothing, and is recovered from", .enabled(if: Volume.canMount),
        arguments: ["sqlite", "disk"])
    func fullVolume(kind: String) async throws {
        let folder = TemporaryFolder()
        let volume = try Volume(at: folder, size: "3m")
        defer { volume.unmount() }
        let engine = try openEngine(kind, at: folder)
        var written = 0
        var failure: (any Error)?
        while failure == nil, written < 1000 {
            do {
                try await engine.write(
                    Data(repeating: UInt8(written % 256), count: 50_000), key: CacheKey("\(written)"))
                written += 1
            } catch {
                failure = error
            }
        }
        #expect((failure as? StorageError)?.code == .storageFull, "\(String(describing: failure))")
        #expect(written > 5)
        #expect(try await engine.fetchAll().map(\.key) == (0..<written).map { CacheKey("\($0)") })
        // A batch that doesn't fit leaves nothing behind.
        let batch = (0..<50).map { (key: CacheKey("batch \($0)"), data: Data(count: 50_000)) }
        await #expect(throws: StorageError.self) { try await engine.write(batch) }
        #expect(try await engine.fetchCount() == written)
        // Removals must succeed even on a full volume, at least with the disk engine.
        if kind == "disk" {
            try await engine.remove(key: CacheKey("0"))
            try await engine.write(Data(count: 1000), key: CacheKey("again"))
            #expect(try await engine.fetchCount() == written)
        }
    }

    @Test("A folder without write permission is reported, and its items stay", arguments: ["sqlite", "disk"])
    func readOnlyFolder(kind: String) async throws {
        let folder = TemporaryFolder()
        try await openEngine(kind, at: folder).write(Data("a".utf8), key: CacheKey("a"))
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
        defer { chmod(folder.path, 0o755) }
        let lines = await (try Child("unprivileged", kind, folder.path)).lines()
        let allowed = ["error permissionDenied", "error readOnly", "error cannotOpen"]
        #expect(lines.last.map(allowed.contains) == true, "\(lines)")
        if lines.contains("opened") { #expect(lines.contains("count 1"), "\(lines)") }
        #expect(try await openEngine(kind, at: folder).fetchCount() == 1)
    }

    @Test("Except on Apple platforms, data and caches are in the folders of the XDG variables", .enabled(if: usesXDG))
    func directories() async throws {
        let folder = TemporaryFolder()
        let environment = [
            "HOME": folder.path, "XDG_DATA_HOME": folder.path + "/data", "XDG_CACHE_HOME": folder.path + "/cache",
        ]
        let lines = await (try Child("directories", environment: environment)).lines()
        #expect(
            lines == [
                folder.path + "/data/A", folder.path + "/cache/A", folder.path + "/data",
                folder.path + "/data/B/data.sqlite3",
            ])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/data/B")
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test(
        "An XDG variable that is empty or relative is ignored", .enabled(if: usesXDG),
        arguments: ["", "here"])
    func invalidDirectories(value: String) async throws {
        let folder = TemporaryFolder()
        let environment = ["HOME": folder.path, "XDG_DATA_HOME": value, "XDG_CACHE_HOME": value]
        let lines = await (try Child("directories", environment: environment)).lines()
        #expect(lines.prefix(2) == [folder.path + "/.local/share/A", folder.path + "/.cache/A"])
    }
}

#if canImport(Darwin)
private let usesXDG = false
#else
private let usesXDG = true
#endif
