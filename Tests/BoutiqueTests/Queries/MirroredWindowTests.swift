import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// A window, a store and a fetch on a mirror whose base is away show the same items.
@MainActor
@Suite struct MirroredWindowTests {
    private let base = AwayEngine()
    private let mirror = MemoryStorageEngine()
    private let errands = (0..<5).map { Errand(id: $0, rank: 10 - $0) }
    private static let all = Query<Errand>(sortedBy: SortDescriptor(\.rank))

    @Test(arguments: [MirrorReading.first, .whenBaseFails])
    func `A window shows the mirror while the base is away, and follows when it is back`(
        _ reading: MirrorReading
    ) async throws {
        let engine = base.mirrored(to: mirror, readingMirror: reading, pausing: .zero)
        try await ObjectStorage<Errand>(storage: engine).store(errands)
        base.isAway.withLock { $0 = true }

        let storage = ObjectStorage<Errand>(
            storage: base.mirrored(to: mirror, readingMirror: reading, pausing: .zero))
        let expected = errands.sorted { ($0.rank ?? 0) < ($1.rank ?? 0) }
        let fetched = try await storage.fetch(Self.all).objects
        #expect(fetched == expected)
        let store = try await Store<Errand>(storage: storage.storage, cacheIdentifier: \.identifier)
        #expect(Set(store.items.map(\.id)) == Set(0..<5))

        let window = LiveQuery(Self.all, in: storage, limit: 3)
        try await window.itemsHaveLoaded()
        #expect(window.items == Array(expected.prefix(3)))
        guard case .loaded = window.state else {
            Issue.record("\(window.state)")
            return
        }
        try await window.loadMore()
        #expect(window.items == expected)
        try await window.reload()
        #expect(window.items == expected)

        base.isAway.withLock { $0 = false }
        // Through the engine of the window, so that the mirror has it, too.
        let new = Errand(id: 9, rank: 0)
        try await storage.store([new])
        try await waitUntil("the window followed") { window.items == [new] + expected }
    }
}

extension Errand {
    fileprivate var identifier: String { "task-\(id)" }
}

/// An engine with a log that can be away.
private struct AwayEngine: ForwardingStorageEngine {
    let base: any StorageBackend = MemoryStorageEngine()
    let isAway = Locked(false)

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        if isAway.withLock({ $0 }) { throw StorageError(.unreachable, "The base is away.") }
        return try await body()
    }
}
