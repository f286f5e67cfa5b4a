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

/// Tests of batches that fail or are interrupted.
@Suite struct DiskBatchTests {

    @Test("A batch is undone if a step fails, and the folder stays usable", .enabled(if: Volume.canMount))
    func failingStep() async throws {
        let folder = TemporaryFolder()
        let engine = DiskStorageEngine(directory: folder.directory)
        let keys = (0..<20).map { CacheKey("\($0)") }
        try await engine.write(keys.map { ($0, Data("old".utf8)) })
        // A file that is a mount point can be neither renamed nor removed.
        let busy = try Volume(over: folder.file(keys[11].value))
        await #expect(throws: StorageError.self) { try await engine.removeAllData() }
        #expect(try await engine.fetchKeys() == keys)
        await #expect(throws: StorageError.self) {
            try await engine.apply(
                keys.map { .write(key: $0, data: Data("new".utf8)) } + [.write(key: CacheKey("x"), data: Data())]
            )
        }
        #expect(try await engine.fetchAllData() == keys.map { _ in Data("old".utf8) })
        busy.unmount()
        try await engine.write(Data("new".utf8), key: keys[0])
        #expect(try await engine.fetchAllData().prefix(2) == [Data("new".utf8), Data("old".utf8)])
        try await engine.removeAllData()
        #expect(try await engine.fetchCount() == 0)
    }

    @Test("A batch that was interrupted between two steps is finished", arguments: [0, 1, 2, 3])
    func recoveryBetweenSteps(done: Int) async throws {
        let folder = TemporaryFolder()
        let writer = DiskStorageEngine(directory: folder.directory)
        try await writer.write(["a", "b"].map { (CacheKey(verbatim: $0), Data("old".utf8)) })
        let batch = folder.file(".emporium/commit")
        try FileManager.default.createDirectory(at: batch, withIntermediateDirectories: true)
        try Data("new".utf8).write(to: batch.appendingPathComponent("0"))
        try Data("Wa\0Rb\0E".utf8).write(to: batch.appendingPathComponent("list"))
        let moves = [("a", ".emporium/commit/0.old"), (".emporium/commit/0", "a"), ("b", ".emporium/commit/1.old")]
        for (source, destination) in moves.prefix(done) {
            try FileManager.default.moveItem(at: folder.file(source), to: folder.file(destination))
        }
        let engine = DiskStorageEngine(directory: folder.directory)
        #expect(try await engine.fetchAll().map(\.data) == [Data("new".utf8)])
        // A released engine removes the control folder, so the writer must live until here.
        #expect(try folder.names() == ["a"])
        withExtendedLifetime(writer) {}
    }

    @Test("Links in the places of items are replaced, and restored if the batch fails", arguments: [false, true])
    func links(fails: Bool) async throws {
        let folder = TemporaryFolder()
        let engine = DiskStorageEngine(directory: folder.directory)
        let keys = ["a", "b", "c"].map { CacheKey(verbatim: $0) }
        for key in keys.prefix(2) {
            try FileManager.default.createSymbolicLink(atPath: folder.file(key.value).path, withDestinationPath: "gone")
        }
        var operations = keys.map { StorageOperation.write(key: $0, data: Data($0.rawValue.utf8)) }
        if fails {
            try FileManager.default.createDirectory(at: folder.file("d"), withIntermediateDirectories: false)
            operations.append(.write(key: CacheKey(verbatim: "d"), data: Data()))
            await #expect(throws: StorageError.self) { try await engine.apply(operations) }
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("a").path) == "gone")
            #expect(try await engine.fetchCount() == 0)
        } else {
            for _ in 0..<2 {
                try await engine.apply(operations)
                #expect(try await engine.fetchAllData() == keys.map { Data($0.rawValue.utf8) })
            }
        }
    }

    @Test("A draft that a crash left behind does not affect the next item")
    func staleDraft() async throws {
        let folder = TemporaryFolder()
        let engine = DiskStorageEngine(directory: folder.directory)
        try await engine.write(Data("short".utf8), key: CacheKey("short"))
        // The draft of a short key, with its record in its attribute, as if it had not been renamed yet.
        rename(folder.file(CacheKey("short").value).path, folder.file(".emporium/item").path)
        let long = CacheKey(String(repeating: "k", count: 100_000))
        try await engine.write(Data("long".utf8), key: long)
        #expect(try await engine.fetchKeys() == [long])
        #expect(try await engine.fetch(key: long) == Data("long".utf8))
    }

    @Test("A full volume can be emptied in one call", .enabled(if: Volume.canMount))
    func emptyingFullVolume() async throws {
        let folder = TemporaryFolder()
        let volume = try Volume(at: folder, size: "1m")
        defer { volume.unmount() }
        let engine = try DiskStorageEngine(opening: folder.directory)
        try await engine.write((0..<5).map { (CacheKey("\($0)"), Data(count: 1000)) })
        // The volume is filled to the last byte, so there is no space for the list of a batch.
        let filler = folder.file(".DS_Store")
        #expect(FileManager.default.createFile(atPath: filler.path, contents: nil))
        let handle = try FileHandle(forWritingTo: filler)
        #expect(throws: (any Error).self) {
            while true { try handle.write(contentsOf: Data(count: 512)) }
        }
        await #expect {
            try await engine.write([(CacheKey("x"), Data(count: 9)), (CacheKey("y"), Data(count: 9))])
        } throws: {
            ($0 as? StorageError)?.code == .storageFull
        }
        #expect(try await engine.fetchCount() == 5)
        try await engine.removeAllData()
        #expect(try await engine.fetchCount() == 0)
    }
}
