import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Batches of several collections through wrappers that apply them only if what they have read is still stored.
@Suite struct GroupedWrapperTests {

    /// An engine on which others write before a batch is applied, and after it.
    private struct Busy: ForwardingStorageEngine {
        let base: any StorageBackend
        let turns: Locked<Int>
        let before: @Sendable () async throws -> Void
        let after: @Sendable () async throws -> Void

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> {
            guard case .apply = call,
                turns.withLock({
                    $0 -= 1; return $0 >= 0
                })
            else { return try await body() }
            try await before()
            let answer = try await body()
            try await after()
            return answer
        }
    }

    private func databases(_ folder: TemporaryFolder) throws -> [(any StorageBackend, any StorageBackend)] {
        let (memory, file) = (MemoryStorageEngine(), try SQLiteStorageEngine(openingFile: folder.file("a")))
        return [
            (memory.collection(named: "a"), memory.collection(named: "b")),
            (try file.collection(named: "a"), try file.collection(named: "b")),
        ]
    }

    private let key = CacheKey(verbatim: "k")
    private let other = CacheKey(verbatim: "o")

    /// What a server does with a request that has an idempotency key.
    private func write(_ batch: StorageBatch, to engine: any StorageBackend, with notes: any StorageBackend)
        async throws
        -> Bool
    {
        let note = StorageBatch(
            [.write(key: other, data: Data("noted".utf8))], if: [StorageCondition(key: other, data: nil)])
        return try await StorageBatchGroup.apply([(engine, batch), (notes, note)]).allSatisfy(\.value.wasApplied)
    }

    @Test(arguments: [false, true])
    func `A scope is left and entered in the meantime, and the write is applied`(_ isConditional: Bool) async throws {
        let folder = TemporaryFolder()
        let scope = try StorageScope(matching: #"@.owner == "ada""#)
        let own = [Data(#"{"owner":"ada","n":1}"#.utf8), Data(#"{"owner":"ada","n":2}"#.utf8)]
        for (items, notes) in try databases(folder) {
            try await items.write(own[0], key: key)
            let busy = Busy(
                base: items, turns: Locked(3), before: { try await items.write(Data("{}".utf8), key: key) },
                after: { try await items.write(own[0], key: key) })
            let batch = StorageBatch(
                [.write(key: key, data: own[1])], if: isConditional ? [StorageCondition(key: key, data: own[0])] : nil)
            #expect(try await write(batch, to: busy.scoped(to: scope), with: notes))
            #expect(try await items.fetch(key: key) == own[1])
            #expect(try await notes.fetch(key: other) == Data("noted".utf8))
        }
    }

    @Test func `An item is encrypted again in the meantime, and the condition is still met`() async throws {
        let folder = TemporaryFolder()
        let keyset = EncryptionKeyset()
        for (items, notes) in try databases(folder) {
            let others = items.encrypted(with: keyset, collection: "a")
            try await others.write(Data("1".utf8), key: key)
            let again: @Sendable () async throws -> Void = { try await others.write(Data("1".utf8), key: key) }
            let busy = Busy(base: items, turns: Locked(3), before: again, after: again)
            let batch = StorageBatch(
                [.write(key: key, data: Data("2".utf8))], if: [StorageCondition(key: key, data: Data("1".utf8))])
            #expect(try await write(batch, to: busy.encrypted(with: keyset, collection: "a"), with: notes))
            #expect(try await others.fetch(key: key) == Data("2".utf8))
        }
    }

    @Test func `A condition that is not met is the answer, and nothing is applied`() async throws {
        let folder = TemporaryFolder()
        for (items, notes) in try databases(folder) {
            let scoped = items.scoped(to: try StorageScope(matching: "@.n > 0"))
            let data = Data(#"{"n":1}"#.utf8)
            let unmet = StorageBatch([.write(key: key, data: data)], if: [StorageCondition(key: key, data: data)])
            #expect(try await !write(unmet, to: scoped, with: notes))
            #expect(try await notes.fetchCount() == 0)
            try await notes.write(Data(), key: other)
            #expect(try await !write(StorageBatch([.write(key: key, data: data)]), to: scoped, with: notes))
            #expect(try await items.fetchCount() == 0)
        }
    }
}
