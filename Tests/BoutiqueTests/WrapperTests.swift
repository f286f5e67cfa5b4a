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

/// Counts what is read of an engine.
private struct Counting: ForwardingStorageEngine {
    let base: any StorageBackend
    let items = Locked(0)
    let logReads = Locked(0)

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        if call.operation == .fetchChanges { logReads.withLock { $0 += 1 } }
        let answer = try await body()
        if let found = answer.value as? [StorageItem] { items.withLock { $0 += found.count } }
        return answer
    }

    func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        try await base.scan(request) { [items] in
            let receive = try begin()
            return { number, item in
                items.withLock { $0 += 1 }
                return try receive(number, item)
            }
        }
    }

    /// The number of items that were read since the last call.
    func takeItems() -> Int {
        items.withLock { items in
            defer { items = 0 }
            return items
        }
    }
}

/// What a store and a live query on a wrapper read, counted at the base.
@MainActor
@Suite(.timeLimit(.minutes(5))) struct WrapperTests {
    private let folder = TemporaryFolder()

    private func counting() throws -> Counting {
        Counting(base: try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed))
    }

    @Test(arguments: Wrapping.allCases)
    fileprivate func `A store on a wrapper does not read the log after its own writes`(_ wrapping: Wrapping) async throws {
        let base = try counting()
        let store = try await Store<Note>(storage: wrapping.wrap(base))
        try await store.insert(Note(id: "first"))
        // The signal that comes when it begins to follow.
        try await waitUntil("the store follows") { base.logReads.withLock { $0 > 0 } }
        let before = base.logReads.withLock { $0 }
        for number in 0..<20 { try await store.insert(Note(id: "\(number)")) }
        try await store.remove(Note(id: "3"))
        #expect(base.logReads.withLock { $0 } == before)
        #expect(store.items.count == 20)
    }

    @Test(arguments: Wrapping.allCases)
    fileprivate func `A live query on a wrapper reads only what has changed`(_ wrapping: Wrapping) async throws {
        let base = try counting()
        let storage = ObjectStorage<Errand>(storage: wrapping.wrap(base))
        try await storage.createIndexes()
        try await storage.store((0..<500).map { Errand(id: $0, rank: $0) })
        let window = LiveQuery(Query<Errand>(sortedBy: SortDescriptor(\.rank)), in: storage, limit: 20)
        try await window.itemsHaveLoaded()
        _ = base.takeItems()
        for number in 0..<5 {
            try await storage.store([Errand(id: 1_000 + number, rank: -1 - number)])
            try await waitUntil("the window has the item") { window.items.first?.id == 1_000 + number }
            #expect(base.takeItems() < 10, "change \(number)")
        }
    }

    @Test(arguments: Wrapping.allCases)
    fileprivate func `A wrapper has the log and the traits of its base, except those that it documents`(
        _ wrapping: Wrapping
    ) throws {
        let base = try counting()
        let engine = wrapping.wrap(base)
        #expect(engine.log != nil)
        var expected = base.traits
        switch wrapping {
        case .retrying, .mirrored, .prefixed: expected.remove(.ignoresCancellation)
        case .limited: expected = expected.subtracting(.ignoresCancellation).union(.evicts)
        case .expiring: expected.insert(.expires)
        case .none, .logged, .cached, .encrypted, .hidingKeys, .faulty, .recording, .own: break
        }
        #expect(engine.traits == expected)
        let hidesIndexes: Set<Wrapping> = [.prefixed, .expiring, .encrypted, .hidingKeys, .mirrored]
        #expect((engine.indexes == nil) == hidesIndexes.contains(wrapping))
    }
}
