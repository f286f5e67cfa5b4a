import Bodega
import BodegaSync
import BodegaTesting
import Foundation
import TestSupport

/// A remote database whose answers a test delays or replaces.
final class ScriptedRemote: SyncRemote {
    struct Script: Sendable {
        /// Called before a batch is applied.
        var beforeApplying: @Sendable (SyncBatch) async throws -> Void = { _ in }
        /// Called after a batch was applied, before that is answered.
        var afterApplying: @Sendable (SyncBatch) async throws -> Void = { _ in }
        /// Called before a pull.
        var beforePulling: @Sendable () async throws -> Void = {}
        /// Called when a pull has read, before it passes on the first part.
        var whilePulling: @Sendable () async throws -> Void = {}
        /// Items that can't be read.
        var unreadable: Set<CacheKey> = []

        /// Refuses the credentials of all calls while they are not valid.
        mutating func check(_ areValid: Locked<Bool>) {
            let check: @Sendable () throws -> Void = {
                if !areValid.withLock({ $0 }) { throw StorageError(.init(rawValue: "unauthorized"), "No.") }
            }
            beforeApplying = { _ in try check() }
            beforePulling = { try check() }
        }
    }

    let base: EngineSyncRemote
    private let script = Locked(Script())
    private let log = Locked<[SyncBatch]>([])

    init(_ server: MemoryStorageEngine) { base = EngineSyncRemote { server.collection(named: $0) } }

    func change(_ change: (inout Script) -> Void) { script.withLock { change(&$0) } }

    /// The batches that were sent, repetitions included.
    var sent: [SyncBatch] { log.withLock { $0 } }

    private var current: Script { script.withLock { $0 } }

    var maximumItems: Int { base.maximumItems }

    var signalsChanges: Bool { base.signalsChanges }

    func apply(_ batch: SyncBatch) async throws -> Bool {
        log.withLock { $0.append(batch) }
        try await current.beforeApplying(batch)
        let wasApplied = try await base.apply(batch)
        try await current.afterApplying(batch)
        return wasApplied
    }

    func fence(_ batch: SyncBatch) async throws -> Bool { try await base.fence(batch) }

    func pull(
        _ places: [String: StorageCursor?], needing keys: [String: [CacheKey]],
        _ receive: @escaping @Sendable (SyncNews) async throws -> Void
    ) async throws {
        try await current.beforePulling()
        let isFirst = Locked(true)
        try await base.pull(places, needing: keys) { [self] news in
            if isFirst.withLock({ isFirst in
                defer { isFirst = false }
                return isFirst
            }) {
                try await current.whilePulling()
            }
            let hidden = current.unreadable
            switch news {
            case .items(let items, let collection, let batches) where !hidden.isEmpty:
                let unreadable = items.map(\.key).filter(hidden.contains)
                if !unreadable.isEmpty { try await receive(.unreadable(unreadable, collection: collection)) }
                let others = items.filter { !hidden.contains($0.key) }
                try await receive(.items(others, collection: collection, batches: batches))
            case .end(let collection, _) where !hidden.isEmpty:
                // The changes come again, until all items can be read.
                try await receive(.end(collection: collection, cursor: places[collection].flatMap { $0 }))
            default: try await receive(news)
            }
        }
    }

    func signals(of collections: [String]) -> AsyncStream<Void> { base.signals(of: collections) }
}

/// A replica on a local database in memory.
struct Replica {
    let local = MemoryStorageEngine()
    let remote: ScriptedRemote
    let sync: StorageSync
    let notes: SyncedStorageEngine

    init(
        of server: MemoryStorageEngine, policy: SyncConflictPolicy = .laterWins,
        maximumDelay: Duration = SyncOptions().maximumDelay
    ) async throws {
        remote = ScriptedRemote(server)
        var options = SyncOptions()
        (options.policy, options.maximumDelay) = (policy, maximumDelay)
        sync = try await StorageSync(
            local: { [local] in local.collection(named: $0) }, remote: remote, options: options)
        notes = try await sync.collection(named: "notes")
    }

    func write(_ json: String, _ key: String) async throws {
        try await notes.write(Data(json.utf8), key: CacheKey(key))
    }

    func text(_ key: String) async throws -> String? {
        try await notes.fetch(key: CacheKey(key)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Waits until an item has a text.
    func wait(for text: String?, _ key: String) async throws {
        for try await _ in notes.changes() where try await self.text(key) == text { return }
    }

    /// Waits until a condition holds, which may change with the state of the synchronization.
    func wait(until condition: (SyncStatus) async throws -> Bool) async throws {
        try await sync.wait(until: condition)
    }
}

/// Holds up callers until it is opened.
final class SyncGate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())
    private let arrivals = AsyncStream<Void>.makeStream()

    /// Waits until the gate is open.
    func pass() async {
        arrivals.continuation.yield()
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Waits until a caller has come to the gate.
    func arrival() async { for await _ in arrivals.stream { return } }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
