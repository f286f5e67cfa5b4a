import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// A value in an SQLite file that two processes observe and change.
@Suite struct AsyncStoredValueProcessTests {

    private let folder = TemporaryFolder()

    @Test("Each process publishes the values of the other, each value once")
    func conversation() async throws {
        let file = folder.file("values.sqlite3")
        let engine = try SQLiteStorageEngine(openingFile: file)
        let value = AsyncStoredValue(key: "value", default: "none", storage: engine)
        try await value.valueHasLoaded()
        var shown = value.values.makeAsyncIterator()
        #expect(await shown.next() == "none")
        let input = Pipe.separate()
        let other = try Child(["async-value", file.path, "value"], input: input)
        #expect(await other.nextLine() == "none")
        for round in 0..<20 {
            try await value.set("ours \(round)")
            #expect(await shown.next() == "ours \(round)")
            #expect(await other.nextLine() == "ours \(round)")
            try input.fileHandleForWriting.write(contentsOf: Data("theirs \(round)\n".utf8))
            #expect(await other.nextLine() == "theirs \(round)")
            #expect(await shown.next() == "theirs \(round)")
        }
        try await value.set("end")
        #expect(await other.nextLine() == "end")
        try input.fileHandleForWriting.close()
        #expect(await other.lines() == [])
    }

    @Test("Both processes end with the last value, whichever process has set it")
    func random() async throws {
        let seed = Seed.current
        print("a value of two processes: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let file = folder.file("values.sqlite3")
        let engine = try SQLiteStorageEngine(openingFile: file, durability: .relaxed)
        let value = AsyncStoredValue(key: "value", default: "none", storage: engine)
        let input = Pipe.separate()
        let other = try Child(["async-value", file.path, "value"], input: input)
        for round in 0..<200 {
            if Bool.random(using: &random) {
                try await value.set("ours \(round)")
            } else {
                try input.fileHandleForWriting.write(contentsOf: Data("theirs \(round)\n".utf8))
            }
        }
        try input.fileHandleForWriting.write(contentsOf: Data("theirs at last\n".utf8))
        for await shown in value.values where shown == "theirs at last" { break }
        try await value.set("end")
        let lines = await other.lines()
        #expect(lines.last == "end")
        // No value is published again after a later one.
        #expect(Set(lines).count == lines.count, "EMPORIUM_SEED=\(seed)")
        try input.fileHandleForWriting.close()
    }

    @Test func `Two processes that increment a value lose no increment`() async throws {
        let file = folder.file("values.sqlite3")
        let processes = try (0..<2).map { _ in try Child(["increment-async-value", file.path, "number", "10000"]) }
        for process in processes { #expect(await process.lines() == ["done"]) }
        let value = AsyncStoredValue(
            key: "number", default: 0, storage: try SQLiteStorageEngine(openingFile: file))
        try await value.valueHasLoaded()
        #expect(value.wrappedValue == 20_000)
    }
}
