import Bodega
import Foundation
import Logging

/// The bytes of a value in an engine, shared by all wrappers of one key and one engine object.
///
/// 1. A core takes `turn`, fetches the bytes, applies its change and announces the new bytes to the other cores.
/// 2. If the engine throws, the outcome is unknown: the core gets the error and gives the turn back. `refresher` takes
///    the turn later, fetches the bytes, retrying until it succeeds, and announces them to all cores.
/// 3. When the ``FollowedEngine`` reports a foreign change of the key, ``refresh()`` does the same once.
///
/// `turn` guards the stored bytes and the order of announcements. Each `Locked` property guards itself.
final class EngineValue: Sendable {
    let engine: any StorageBackend
    let key: CacheKey

    /// Held from a read to the write that depends on it, so that no change is lost. All wrappers of an engine share it.
    let turn: AsyncLock

    private let observers = Locked<[ObjectIdentifier: @Sendable (Data?) async -> Void]>([:])
    private let refresher = ChangeFollower()
    private let followed: FollowedEngine?

    private struct Identity: Hashable {
        let engine: ObjectIdentifier
        let key: CacheKey
    }

    private static let all = SharedObjects<Identity, EngineValue>()
    private static let turns = SharedObjects<EnginePlace, AsyncLock>()

    /// The bytes under a key in an engine.
    static func shared(_ engine: any StorageEngine, key: CacheKey) -> EngineValue {
        let new = EngineValue(engine, key: key)
        let value = identity(of: engine).map { all.object(for: Identity(engine: $0, key: key), orNew: new) } ?? new
        if value === new { new.beginRefreshing() }
        return value
    }

    private init(_ engine: any StorageEngine, key: CacheKey) {
        (self.engine, self.key) = (engine.backend, key)
        let turn = AsyncLock(ignoringCancellation: true)
        self.turn = self.engine.place(of: key).map { Self.turns.object(for: $0, orNew: turn) } ?? turn
        followed = FollowedEngine.shared(engine)
    }

    deinit {
        followed?.remove(key, ObjectIdentifier(self))
    }

    /// Reads the bytes. Only called within the turn.
    func fetch() async throws -> Data? {
        if engine.traits.contains(.conditional) { return try await engine.fetch(key: key) }
        // A cache does not know the writes of others, and no condition would notice them.
        let request = FetchRequest([key], options: ReadOptions(needsOriginal: true))
        return try await engine.fetch(request).value.first?.data
    }

    /// Applies operations to the engine, with the origin of its ``FollowedEngine``.
    ///
    /// The engine may have applied them although it throws, so the bytes are then read again later.
    ///
    /// - Returns: `false` if a foreign writer has changed the state of the conditions; nothing is applied then. An
    ///   engine that can't compare applies the operations anyway.
    @discardableResult
    func apply(_ operations: [StorageOperation], if conditions: [StorageCondition] = []) async throws -> Bool {
        do {
            let isConditional = !conditions.isEmpty && engine.traits.contains(.conditional)
            let batch = StorageBatch(operations, if: isConditional ? conditions : nil, origin: followed?.origin)
            return try await engine.apply(batch).value.wasApplied
        } catch {
            followed?.renewOrigin()
            refresher.catchUp()
            throw error
        }
    }

    /// Announces the stored bytes after foreign changes, and after failed writes.
    private func beginRefreshing() {
        followed?.add(self)
        refresher.begin("\(key)", logger: boutiqueLogger) { [weak self] in try await self?.refresh() }
    }

    /// Fetches the bytes that could not be decoded and were kept aside, the oldest first.
    func fetchAside() async throws -> UndecodableBytes {
        var kept = UndecodableBytes(of: key.rawValue)
        while let data = try await engine.fetch(key: asideKey(named: kept.freeName)) { kept.append(data) }
        return kept
    }

    /// The key under which to keep bytes aside; `nil` if they are kept already.
    func asideKey(for data: Data) async throws -> CacheKey? {
        let kept = try await fetchAside()
        return kept.contains(data) ? nil : asideKey(named: kept.freeName)
    }

    /// The key for a name of ``UndecodableBytes``.
    func asideKey(named name: String) -> CacheKey {
        CacheKey(rawValue: name, kind: key.kind)
    }

    /// Calls a closure with the new bytes, within the turn, after another wrapper or a foreign writer has changed them.
    func observe(_ owner: AnyObject, _ onChange: @escaping @Sendable (Data?) async -> Void) {
        observers.withLock { $0[ObjectIdentifier(owner)] = onChange }
    }

    func endObserving(_ owner: ObjectIdentifier) {
        // Released after the lock.
        _ = observers.withLock { $0.removeValue(forKey: owner) }
    }

    /// Passes the stored bytes to all cores, or to all except their writer. Only called within the turn.
    func announce(_ data: Data?, by owner: AnyObject? = nil) async {
        let others = observers.withLock { observers in
            observers.filter { $0.key != owner.map(ObjectIdentifier.init) }.map(\.value)
        }
        for other in others { await other(data) }
    }

    /// Fetches the bytes and announces them.
    func refresh() async throws {
        try await turn.withLock { await announce(try await fetch()) }
    }
}

/// The identity of an engine that is an object. Engines of other types have none, and are never shared.
func identity(of engine: any StorageEngine) -> ObjectIdentifier? {
    type(of: engine) is AnyClass ? ObjectIdentifier(engine as AnyObject) : nil
}

extension CacheKey {
    /// The key of a value without an explicit one. It is that of Boutique 2, so that each reads the value of the other.
    static let uniqueValue = CacheKey("unique-value")
}
