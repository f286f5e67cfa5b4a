import Bodega
import Foundation
import TestSupport
import Testing

/// Snapshots of a scope that others change while they are read.
@Suite struct ScopedSnapshotTests {
    private static let key = CacheKey("moving")

    /// An engine on which another writer moves an item before and after a scan.
    private struct Moving: ForwardingStorageEngine {
        let base: any StorageBackend
        /// What is written before the scan, and after it; `nil` to remove the item.
        let (before, after): (Data?, Data?)
        let isOver = Locked(false)

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> { try await body() }

        func scan(
            _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
        ) async throws -> StorageAnswer<ScanOutcome> {
            // The one in which the log reads which items are in the scope.
            if request.needsCursor { return try await base.scan(request, begin) }
            if !isOver.withLock({ $0 }) { try await write(before) }
            let answer = try await base.scan(request, begin)
            if !isOver.withLock({ $0 }) { try await write(after) }
            isOver.withLock { $0 = true }
            return answer
        }

        private func write(_ data: Data?) async throws {
            if let data { try await base.write(data, key: key) } else { try await base.remove(key: key) }
        }
    }

    private static let (inside, outside) = (Data(#"{"o":"a"}"#.utf8), Data(#"{"o":"b"}"#.utf8))

    @Test(
        "are followed by the removal of an item that was in the scope only for the moment",
        arguments: [outside, nil, inside])
    func moment(after: Data?) async throws {
        for initial in [Self.outside, nil, Self.inside] {
            let base = MemoryStorageEngine()
            try await base.write(Self.inside, key: CacheKey("resting"))
            if let initial { try await base.write(initial, key: Self.key) }
            let moving = Moving(base: base, before: Self.inside, after: after)
            let scoped = moving.scoped(to: try StorageScope(matching: #"@.o == "a""#))
            let snapshot = try await scoped.fetchSnapshot()
            #expect(Set(snapshot.items.map(\.key)) == [CacheKey("resting"), Self.key])
            var replica = Dictionary(uniqueKeysWithValues: snapshot.items.map { ($0.key, $0.data) })
            let delta = try #require(try await scoped.fetchChangedItems(since: snapshot.cursor, excluding: nil))
            for change in delta.changes { replica[change.key] = nil }
            for item in delta.items { replica[item.key] = item.data }
            let stored = try await base.fetchAll().filter { $0.data == Self.inside }
            #expect(replica == Dictionary(uniqueKeysWithValues: stored.map { ($0.key, $0.data) }))
            // It is removed once, and others are not mentioned.
            #expect(delta.changes.filter { $0.kind == .removed }.count <= 1)
            #expect(delta.changes.allSatisfy { $0.key == Self.key })
        }
    }
}
