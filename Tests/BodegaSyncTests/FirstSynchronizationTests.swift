import Bodega
@testable import BodegaSync
import Foundation
import TestSupport
import Testing

/// Programs that don't note their changes, when a collection is synchronized for the first time.
@Suite struct FirstSynchronizationTests {
    private let folder = TemporaryFolder()

    private static func key(_ number: Int) -> CacheKey { CacheKey(verbatim: "\(number)") }

    /// The last change of each item that was written is in the outbox, or the write has thrown.
    @Test func `A write beside the first synchronization is noted, or throws`() async throws {
        for round in 0..<4 {
            let file = try SQLiteStorageEngine(
                openingFile: folder.file("\(round).sqlite3"))
            let notes = try file.collection(named: "notes")
            let count = 400
            try await notes.write((0..<count).map { (Self.key($0), Data("first".utf8)) })
            let plain = LocalOutbox.checkingWrites(of: "notes", by: notes)
            let writers = (0..<2).map { number in
                Task {
                    var step = 0
                    do {
                        while true {
                            step += 1
                            // Some are new, and some are removed.
                            let key = Self.key((step * 7 + number) % (count + 50))
                            if step.isMultiple(of: 5) {
                                try await plain.remove(key: key)
                            } else {
                                try await plain.write(Data("\(number) \(step)".utf8), key: key)
                            }
                        }
                    } catch let error as StorageError { return (error.code, step) }
                }
            }
            // The writers have begun.
            while try await notes.fetch(key: Self.key(7)) == Data("first".utf8) { await Task.yield() }
            let sync = try await StorageSync.unconnected { try file.collection(named: $0) }
            _ = try await sync.collection(named: "notes")
            for writer in writers { #expect(try await writer.value.0 == .readOnly) }

            let pending = try await sync.pending()
            let noted = Dictionary(pending.compactMap { change in change.data.map { (change.key, $0) } }) { $1 }
            let stored = Dictionary(try await notes.fetchAll().map { ($0.key, $0.data) }) { $1 }
            #expect(noted == stored)
            try await file.close()
        }
    }

    @Test func `Each way of writing throws as soon as the collection is synchronized`() async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let notes = try file.collection(named: "notes")
        let plain = LocalOutbox.checkingWrites(of: "notes", by: notes)
        let other = LocalOutbox.checkingWrites(of: "other", by: try file.collection(named: "other"))
        let (key, data) = (Self.key(1), Data("1".utf8))
        // More than what is kept in memory.
        let large: @Sendable () -> StorageByteStream = {
            StorageByteStream(
                AsyncStream<Data> { parts in
                    for _ in 0..<40 { parts.yield(Data(count: 100_000)) }
                    parts.finish()
                })
        }
        let batch = StorageBatch([.write(key: key, data: data)])
        let writes: [@Sendable () async throws -> Void] = [
            { try await plain.write(data, key: key) },
            { try await plain.write([(key, data)]) },
            { try await plain.remove(key: key) },
            { try await plain.removeAllData() },
            { _ = try await plain.apply(StorageBatch([.write(key: key, data: data)], if: [])) },
            { try await plain.write(stream: large(), key: key) },
            { _ = try await StorageBatchGroup.apply([(engine: other, batch: batch), (engine: plain, batch: batch)]) },
        ]
        for write in writes { try await write() }
        try await notes.write(data, key: key)
        let (items, others) = (try await notes.fetchAll().map(\.data), try await other.fetchCount())
        let sync = try await StorageSync.unconnected { try file.collection(named: $0) }
        let synced = try await sync.collection(named: "notes")
        for (number, write) in writes.enumerated() {
            let error = await #expect(throws: StorageError.self, "\(number)") { try await write() }
            #expect(error?.code == .readOnly, "\(number)")
        }
        #expect(try await notes.fetchAll().map(\.data) == items)
        #expect(try await other.fetchCount() == others)
        try await other.write(data, key: Self.key(2))
        try await synced.write(data, key: Self.key(2))
    }

    @Test func `A place of an earlier version can be read, and keeps what it says`() throws {
        let old = Data(#"{"cursors":{"a":"1"},"requests":[],"pulls":3,"adopted":["a","%20"]}"#.utf8)
        var place = try OutboxStorage.place(old)
        #expect(place.collections == ["a", " "] && place.notesChanges(of: "a") && !place.notesChanges(of: "b"))
        place.beginToAdopt("b")
        #expect(place.notesChanges(of: "b") && !place.hasAdopted("b") && place.collections.contains("b"))
        place.adopt("b")
        #expect(place.hasAdopted("b") && place.notesChanges(of: "b"))
    }
}
