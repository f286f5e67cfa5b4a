#if CommandLineTool
import Bodega
@testable import BodegaCommands
import BodegaTesting
import Foundation
import TestSupport
import Testing

@Suite("A copy")
struct CopyTests {

    @Test("has the items, the order and the dates, between any engines", arguments: [0, 1], [0, 1])
    func everything(from: Int, to: Int) async throws {
        try await withFolder { folder in
            let source = storeAddresses[from](folder)
            let engine = try #require(try StorageAddress(parsing: source).open() as? any StorageBackend)
            let items = Hostile.items.enumerated().map { index, item in
                let date = Date(timeIntervalSince1970: Double(1_000_000 - index))
                return StorageItem(
                    key: item.key, data: item.data,
                    dates: StorageDates(createdAt: date, updatedAt: date.addingTimeInterval(5)))
            }
            try await engine.write(items: items)
            let target = storeAddresses[to](folder.appendingPathComponent("copy"))
            let copied = await bodega("copy", source, target)
            #expect(copied == RunResult(status: 0, output: Array("copied \(items.count)\n".utf8), errors: ""))
            let copy = try StorageAddress(parsing: target).openForReading()
            #expect(try await copy.backend.fetchItems(keys: copy.fetchKeys()) == items)
            #expect(await bodega("copy", source, target).text == "copied 0, already there \(items.count)\n")
        }
    }

    @Test("keeps different items, lists them and fails, or overwrites them", arguments: storeAddresses)
    func conflicts(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let source = storeAddresses[0](folder.appendingPathComponent("source"))
            let target = address(folder)
            for key in ["a", "b", "c"] { _ = await bodega("put", source, key, input: Array(key.utf8)) }
            _ = await bodega("put", target, "b", input: [1])
            _ = await bodega("put", target, "other", input: [2])
            let result = await bodega("copy", source, target)
            #expect(result.status == 1)
            #expect(result.text == "copied 2, different 1\n")
            #expect(result.errors.hasSuffix("\n  \"b\"\n"))
            #expect(await bodega("get", target, "b").output == [1])
            let json = await bodega("copy", source, target, "--json")
            #expect(json.status == 1)
            #expect(json.text.hasPrefix(#"{"copied":0,"present":2,"overwritten":0,"conflicts":["b"],"bytes":0,"#))
            #expect(json.text.contains(#","error":""#))
            #expect(
                await bodega("copy", source, target, "--overwrite").text == "copied 0, overwritten 1, already there 2\n"
            )
            #expect(await bodega("get", target, "b", "other").output == [UInt8(ascii: "b"), 2])
        }
    }

    @Test("of a missing store, or of a store to itself, creates and changes nothing")
    func refused() async throws {
        try await withFolder { folder in
            let source = storeAddresses[0](folder)
            let target = storeAddresses[1](folder)
            #expect(await bodega("copy", source, target).status == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
            _ = await bodega("put", source, "a", input: [1])
            let link = folder.appendingPathComponent("link.db")
            try FileManager.default.createSymbolicLink(
                at: link, withDestinationURL: folder.appendingPathComponent("store.db"))
            let before = try Listing(of: folder)
            #expect(await bodega("copy", source, source).status == 64)
            #expect(await bodega("copy", source, link.path).status == 64)
            #expect(try Listing(of: folder) == before)
            // Another collection of one file is another store.
            #expect(await bodega("copy", source, source + "#more").text == "copied 1\n")
            #expect(await bodega("copy", source, target).errors.contains("also has the collections \"more\""))
        }
    }

    @Test("that is interrupted explains how to continue, and continues", arguments: storeAddresses)
    func interrupted(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let source = try await filled(folder.appendingPathComponent("source"), count: 1000)
            let target = address(folder)
            let stopped = await bodega("copy", source, target) { $0.interruption.interrupt(.interrupted) }
            #expect(stopped.status == 130)
            // The first batch is done in any case.
            #expect(
                stopped.errors
                    == "bodega: Interrupted. 32 of 1000 items are done. Run the same command again to continue.\n")
            #expect(await bodega("copy", source, target).text == "copied 968, already there 32\n")
            #expect(await bodega("diff", source, target).status == 0)
        }
    }

    @Test("whose first batch can't be read back, or fails to be written, does not say that nothing was copied")
    func firstBatch() async throws {
        let source = MemoryStorageEngine()
        try await source.write((0..<5).map { (CacheKey("\($0)"), Data("\($0)".utf8)) })
        for fault in [StorageFault.fail([.fetch], .number(2)), .fail(.writes, .every)] {
            let destination = FaultInjectingStorageEngine(MemoryStorageEngine(), faults: [fault])
            let copier = Copier(source: source, destination: destination, overwrites: false)
            var report = CopyReport()
            await #expect(throws: StorageError.self) { try await copier.run(report: &report) { _ in } }
            #expect(report.advice == "0 of 5 items are done. Run the same command again to continue.")
        }
        let unreadable = FaultInjectingStorageEngine(MemoryStorageEngine(), faults: [.fail([.fetch], .every)])
        var report = CopyReport()
        await #expect(throws: StorageError.self) {
            try await Copier(source: source, destination: unreadable, overwrites: false).run(report: &report) { _ in }
        }
        #expect(report.advice == "Nothing was copied.")
    }

    @Test("that is killed at any moment is completed by the next one", arguments: storeAddresses)
    func killed(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let source = try await filled(folder.appendingPathComponent("source"), count: 3000)
            let seed = Seed.current
            print("copy that is killed: EMPORIUM_SEED=\(seed)")
            var random = SeededGenerator(seed: seed)
            for round in 0..<5 {
                let target = address(folder.appendingPathComponent("round \(round)"))
                let wanted = Int.random(in: 0..<2900, using: &random)
                let child = try Child(["copy", source, target], program: "bodega")
                while try await count(target) < wanted {}
                child.kill()
                _ = await child.lines()
                let before = try await count(target)
                let result = await bodega("copy", source, target, "--json")
                #expect(result.status == 0, "\(result.errors)")
                #expect(result.text.hasPrefix(#"{"copied":\#(3000 - before),"present":\#(before),"#), "\(result.text)")
                #expect(await bodega("diff", source, target) == RunResult(status: 0, output: [], errors: ""))
                #expect(await bodega("ls", source).output == bodega("ls", target).output)
            }
        }
    }

    /// The number of items in a store that another process may be creating; 0 if it can't be read yet.
    private func count(_ store: String) async throws -> Int {
        do {
            return try await StorageAddress(parsing: store).openForReading().fetchCount()
        } catch let error as StorageError where error.code == .cannotOpen {
            // Opening the folder for writing finishes a batch that a kill interrupted.
            guard FileManager.default.fileExists(atPath: try StorageAddress(parsing: store).path + "/.emporium/commit")
            else { return 0 }
            return try await StorageAddress(parsing: store).open().fetchCount()
        }
    }

    @Test("to a full volume reports its progress", .enabled(if: Volume.canMount), arguments: storeAddresses)
    func fullVolume(address: @Sendable (URL) -> String) async throws {
        let place = TemporaryFolder()
        let volume = try Volume(at: place, size: "2m")
        defer { volume.unmount() }
        try await withFolder { folder in
            let source = try await filled(folder, count: 3000)
            let result = await bodega("copy", source, address(place.url))
            #expect(result.status == 1)
            #expect(result.errors.contains("storageFull"))
            #expect(result.errors.contains(" of 3000 items are done. Run the same command again to continue."))
        }
    }

    @Test("whose items read back differently is an error")
    func unfaithful() async throws {
        let source = MemoryStorageEngine()
        try await source.write(Data([1]), key: CacheKey("a"))
        var report = CopyReport()
        await #expect {
            try await Copier(source: source, destination: ForgetfulEngine().backend, overwrites: false).run(
                report: &report
            ) { _ in
            }
        } throws: { ($0 as? ToolError)?.message.contains("is not what was written") == true }
        #expect(report.copied == 0)
    }

    /// Makes a store with items of about a kilobyte.
    private func filled(_ folder: URL, count: Int) async throws -> String {
        let address = storeAddresses[0](folder)
        let engine = try StorageAddress(parsing: address).open()
        try await engine.write((0..<count).map { (CacheKey("key \($0)"), Data("\($0) ".utf8) + Data(count: 1000)) })
        try await (engine as? SQLiteStorageEngine)?.close()
        return address
    }

    /// An engine that reports writes as successful without performing them.
    private struct ForgetfulEngine: ThrowingStorageEngine {
        func fetch(key: CacheKey) async throws -> Data? { nil }
        func fetchAll() async throws -> [(key: CacheKey, data: Data)] { [] }
        func fetchKeys() async throws -> [CacheKey] { [] }
        func fetchDates(key: CacheKey) async throws -> StorageDates? { nil }
        func apply(_ operations: [StorageOperation]) async throws {}
    }
}
#endif
