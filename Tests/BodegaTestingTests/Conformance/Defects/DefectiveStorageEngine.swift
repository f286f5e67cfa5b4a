import Bodega
import BodegaTesting
import Foundation

/// An engine with one defect. Without a defect, it fulfills every contract.
///
/// Its storage outlives it, so that it can be opened again.
struct DefectiveStorageEngine: ThrowingStorageEngine {

    /// The storage that remains when the engine is released.
    final class Storage: Sendable {
        struct State {
            var sessions = 0
            var isBroken = false
            var meetings = Meetings()
            var created: [CacheKey: Date] = [:]
            var places: [CacheKey] = []
            var collections: [CacheKey: Storage] = [:]
        }
        let items: MemoryStorageEngine
        let clock: ManualClock
        let state = Locked(State())

        init(clock: ManualClock) {
            self.clock = clock
            items = MemoryStorageEngine(now: clock.now)
        }

        /// The storage of another collection.
        func collection(_ name: CacheKey) -> Storage {
            state.withLock { state in
                let storage = state.collections[name] ?? Storage(clock: clock)
                state.collections[name] = storage
                return storage
            }
        }
    }

    /// The operation that fails.
    static let refused = StorageOperation.write(key: CacheKey("refused"), data: Data())

    let storage: Storage
    let defect: Defect?
    let session: Int
    var items: MemoryStorageEngine { storage.items }

    init(_ storage: Storage, defect: Defect?) async throws {
        self.storage = storage
        self.defect = defect
        session = storage.state.withLock { state in
            state.sessions += 1
            return state.sessions
        }
        if defect == .startsWithAnItem { try await items.write(Data(), key: CacheKey("unasked")) }
        if defect == .forgetsAtReopening, session > 1 { try await items.removeAllData() }
    }

    /// The key that the engine uses for a key.
    func name(_ key: CacheKey) -> CacheKey {
        switch defect {
        case .takesRawValuesForKeys: CacheKey(key.rawValue)
        case .takesValuesForKeys: CacheKey(verbatim: key.value)
        case .ignoresCase: CacheKey(rawValue: key.rawValue.lowercased(), kind: key.kind)
        case .truncatesKeysAtNul: CacheKey(rawValue: String(key.rawValue.prefix { $0 != "\0" }), kind: key.kind)
        default: key
        }
    }

    /// The name that the engine uses for a collection.
    func name(ofCollection name: String) -> CacheKey {
        switch defect {
        case .truncatesNamesAtNul: CacheKey(String(name.prefix { $0 != "\0" }))
        case .composesNames: CacheKey(name.precomposedStringWithCanonicalMapping)
        default: CacheKey(name)
        }
    }

    /// The bytes that the engine keeps for a value.
    private func stored(_ data: Data, over old: Data?) -> Data {
        switch defect {
        case .keepsTheTailOfLongerValues: data + (old ?? Data()).dropFirst(data.count)
        case .truncatesLargeValues: data.prefix(1 << 16)
        // The bytes from index 0, at which a slice doesn't begin.
        case .keepsWholeBufferOfSlices where data.startIndex > 0: Data(count: data.startIndex) + data
        default: data
        }
    }

    func write(_ data: Data, key: CacheKey) async throws {
        switch defect {
        case .losesConcurrentWrites:
            let all = try await items.fetchAll()
            try await storage.meetAnotherWriter()
            try await items.apply(
                [.removeAll] + (all + [(key, data)]).map { .write(key: $0.key, data: $0.data) }
            )
        case .writesInHalves:
            try await storage.afterOtherWriters {
                // The first value is written completely, because there is no reader yet.
                if let old = await items.read(key: key) {
                    try await items.write(data.prefix(data.count / 2) + old.dropFirst(data.count / 2), key: key)
                    try await storage.meetReader()
                }
                try await items.write(data, key: key)
            }
        case .resetsCreatedAt:
            storage.state.withLock { $0.created[key] = storage.clock.current }
            fallthrough
        default:
            try await apply([.write(key: key, data: data)])
        }
    }

    func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
        var written = dataAndKeys
        switch defect {
        case .firstDuplicateWins:
            var seen: Set<CacheKey> = []
            written = written.filter { seen.insert($0.key).inserted }
        case .batchesResetCreatedAt:
            storage.state.withLock { state in
                for item in written { state.created[item.key] = storage.clock.current }
            }
        default: break
        }
        try await apply(written.map { .write(key: $0.key, data: $0.data) })
    }

    func remove(key: CacheKey) async throws {
        if defect == .throwsWhenRemovingAbsent, await !items.keyExists(key) {
            throw StorageError(.invalidArgument, "The item does not exist.")
        }
        try await apply([.remove(key: key)])
    }

    func remove(keys: [CacheKey]) async throws {
        if defect == .removesAllForNoKeys, keys.isEmpty { return try await items.removeAllData() }
        var removed = keys
        if defect == .removesTheNeighbor {
            let all = await items.allKeys()
            if let last = keys.last, let index = all.firstIndex(of: last), index > 0 { removed.append(all[index - 1]) }
        }
        try await apply(removed.map { .remove(key: $0) })
    }

    func removeAllData() async throws {
        let last = defect == .removeAllKeepsTheLast ? try await items.fetchAll().last : nil
        try await items.removeAllData()
        if let last { try await items.write(last.data, key: last.key) }
    }

    func apply(_ operations: [StorageOperation]) async throws {
        if let index = operations.firstIndex(of: Self.refused) {
            if defect == .tearsBatches { try await items.apply(Array(operations[..<index])) }
            throw StorageError(.inputOutput, "The operation was refused.")
        }
        var translated: [StorageOperation] = []
        for operation in operations {
            switch operation {
            case .write(let key, let data):
                let key = name(key)
                if defect == .overwritingMovesToTheEnd { translated.append(.remove(key: key)) }
                translated.append(.write(key: key, data: stored(data, over: await items.read(key: key))))
            case .remove(let key): translated.append(.remove(key: name(key)))
            case .removeAll: translated.append(.removeAll)
            }
        }
        switch defect {
        case .removesBeforeWriting: translated = translated.filter(\.isRemoval) + translated.filter { !$0.isRemoval }
        case .removesAllFirst:
            translated = translated.filter { $0 == .removeAll } + translated.filter { $0 != .removeAll }
        default: break
        }
        note(translated)
        guard defect == .showsHalfBatches else { return try await items.apply(translated) }
        try await storage.afterOtherWriters {
            // The first batch is applied completely, because there is no reader yet.
            guard await items.keyCount() > 0 else { return try await items.apply(translated) }
            try await items.apply(Array(translated.prefix(1)))
            try await storage.meetReader()
            try await items.apply(Array(translated.dropFirst()))
        }
    }

    /// Keeps the positions and dates of items after their removal.
    private func note(_ operations: [StorageOperation]) {
        storage.state.withLock { state in
            for case .write(let key, _) in operations where !state.places.contains(key) {
                guard defect == .remembersThePlace || defect == .remembersCreatedAt else { return }
                state.places.append(key)
                if defect == .remembersCreatedAt { state.created[key] = storage.clock.current }
            }
        }
    }
}

extension StorageOperation {
    fileprivate var isRemoval: Bool {
        if case .remove = self { true } else { false }
    }
}
