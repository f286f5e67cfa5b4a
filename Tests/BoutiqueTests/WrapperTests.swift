import Bodega
import BodegaTesting
import Boutique
import Foundation
import Logging
import TestSupport
import Testing

/// A wrapper of any kind.
private enum Wrapping: String, CaseIterable {
    case none, logged, retrying, cached, limited, prefixed, expiring, encrypted, hidingKeys, mirrored, faulty, recording
    /// One that a user writes after the guide.
    case own
    #if Metrics
    case metered
    #endif

    func wrap(_ engine: some StorageBackend) -> any StorageBackend {
        switch self {
        case .none: engine
        case .logged: engine.logged(by: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
        case .retrying: engine.retrying()
        case .cached: engine.cached()
        case .limited: engine.limited(count: 100_000)
        case .prefixed: engine.prefixed("errands")
        case .expiring: engine.expiring(after: .seconds(1_000))
        case .encrypted: engine.encrypted(with: EncryptionKeyset())
        case .hidingKeys: engine.encrypted(with: EncryptionKeyset(), hidingKeysWith: EncryptionKeyset())
        case .mirrored: engine.mirrored(to: MemoryStorageEngine())
        case .faulty: FaultInjectingStorageEngine(engine)
        case .recording: RecordingStorageEngine(engine)
        case .own: OwnWrapper(base: engine)
        #if Metrics
        case .metered: engine.metered()
        #endif
        }
    }
}

private struct OwnWrapper: ForwardingStorageEngine {
    let base: any StorageBackend

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        try await body()
    }
}

/// Counts the reads of a log.
private struct CountingReads: ForwardingStorageEngine {
    let base: any StorageBackend
    let reads = Locked(0)

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        if call.operation == .fetchChanges { reads.withLock { $0 += 1 } }
        return try await body()
    }
}

/// What a store and a live query on a wrapper read, counted at the base.
@MainActor
@Suite struct WrapperTests {
    private let folder = TemporaryFolder()

    private func sqlite() throws -> SQLiteStorageEngine {
        try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
    }

    @Test(arguments: Wrapping.allCases)
    fileprivate func `A store on a wrapper does not read the log after its own writes`(_ wrapping: Wrapping)
        async throws
    {
        let base = CountingReads(base: try sqlite())
        let store = try await Store<Note>(storage: wrapping.wrap(base))
        try await store.insert(Note(id: "first"))
        // The signal that comes when it begins to follow.
        try await waitUntil("the store follows") { base.reads.withLock { $0 > 0 } }
        let before = base.reads.withLock { $0 }
        for number in 0..<20 { try await store.insert(Note(id: "\(number)")) }
        try await store.remove(Note(id: "3"))
        // The first signals can come late. One read for each write would be 21.
        #expect(base.reads.withLock { $0 } < before + 10)
        #expect(store.items.count == 20)
    }

    @Test(arguments: Wrapping.allCases)
    fileprivate func `A live query on a wrapper reads only what has changed`(_ wrapping: Wrapping) async throws {
        let base = CountingItems(of: try sqlite())
        let storage = ObjectStorage<Errand>(storage: wrapping.wrap(base))
        try await storage.createIndexes()
        try await storage.store((0..<500).map { Errand(id: $0, rank: $0) })
        let window = LiveQuery(Query<Errand>(sortedBy: SortDescriptor(\.rank)), in: storage, limit: 20)
        try await window.itemsHaveLoaded()
        _ = base.take()
        for number in 0..<5 {
            try await storage.store([Errand(id: 1_000 + number, rank: -1 - number)])
            try await waitUntil("the window has the item") { window.items.first?.id == 1_000 + number }
            #expect(base.take() < 10, "change \(number)")
        }
    }

    @Test(arguments: Wrapping.allCases)
    fileprivate func `A wrapper has the log and the traits of its base, except those that it documents`(
        _ wrapping: Wrapping
    ) throws {
        let base = try sqlite()
        let engine = wrapping.wrap(base)
        #expect(engine.log != nil)
        var expected = base.traits
        switch wrapping {
        case .retrying, .mirrored, .prefixed, .faulty: expected.remove(.ignoresCancellation)
        case .limited: expected = expected.subtracting(.ignoresCancellation).union(.evicts)
        case .expiring: expected.insert(.expires)
        case .none, .logged, .cached, .encrypted, .hidingKeys, .recording, .own: break
        #if Metrics
        case .metered: break
        #endif
        }
        #expect(engine.traits == expected)
        let hidesIndexes: Set<Wrapping> = [.prefixed, .expiring, .encrypted, .hidingKeys, .mirrored]
        #expect((engine.indexes == nil) == hidesIndexes.contains(wrapping))
    }
}
