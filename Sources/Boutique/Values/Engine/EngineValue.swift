import Bodega
import Foundation
import Logging

/// The bytes of a value in an engine. All wrappers of one key and one engine object share it.
final class EngineValue: Sendable {
    let engine: any StorageEngine
    let key: CacheKey

    /// Where earlier versions have kept the value. Bytes there are newer than those under the key; see ``fetch()``.
    private let formerKey: CacheKey?
    private let isAtFormerKey = Locked(false)

    /// Whoever reads and then writes takes it, so that no change is lost.
    let turn = AsyncTurn()

    private let observers = Locked<[ObjectIdentifier: @Sendable (Data?) async -> Void]>([:])
    private let isRefreshing = Locked(false)
    private let identity: Identity?
    private let followed: FollowedEngine?

    private struct Identity: Hashable {
        let engine: ObjectIdentifier
        let key: CacheKey
    }

    private static let all = Locked<[Identity: Weak<EngineValue>]>([:])

    /// The bytes under a key in an engine.
    static func shared(_ engine: any StorageEngine, key: CacheKey) -> EngineValue {
        // Only objects have an identity; other engines are not known to be the same.
        guard type(of: engine) is AnyClass else {
            let value = EngineValue(engine, key: key, identity: nil)
            value.followed?.add(value)
            return value
        }
        let identity = Identity(engine: ObjectIdentifier(engine as AnyObject), key: key)
        // Made before the lock is taken and, if it is not needed, let go of after: its end takes the lock itself.
        let new = EngineValue(engine, key: key, identity: identity)
        let value = all.withLock { all in
            if let value = all[identity]?.object { return value }
            all[identity] = Weak(new)
            return new
        }
        if value === new { new.followed?.add(new) }
        return value
    }

    private init(_ engine: any StorageEngine, key: CacheKey, identity: Identity?) {
        self.engine = engine
        self.key = key
        formerKey = key == .uniqueValue ? .formerUniqueValue : nil
        self.identity = identity
        followed = FollowedEngine.shared(engine)
    }

    deinit {
        followed?.remove(keys, ObjectIdentifier(self))
        guard let identity else { return }
        Self.all.withLock { all in
            // Another may have taken the place already.
            if all[identity]?.identity == ObjectIdentifier(self) { all[identity] = nil }
        }
    }

    /// The keys under which the bytes may be.
    var keys: [CacheKey] { [key] + (formerKey.map { [$0] } ?? []) }

    /// Reads the bytes. Only called within the turn.
    ///
    /// Each write removes what is under the former key. So bytes there come from an earlier version, which did not know
    /// the key. They are newer than those under the key, which only Boutique 2 can have written before.
    func fetch() async throws -> Data? {
        guard let formerKey else { return try await engine.fetch(key: key) }
        let former = try await engine.fetch(key: formerKey)
        isAtFormerKey.withLock { $0 = former != nil }
        // Read after it, so that bytes which another process moves in the meantime are found.
        return if let former { former } else { try await engine.fetch(key: key) }
    }

    /// What stores bytes in place of those that were read last.
    func operations(storing data: Data) -> [StorageOperation] {
        var operations = [StorageOperation.write(key: key, data: data)]
        if let formerKey, isAtFormerKey.withLock({ $0 }) { operations.append(.remove(key: formerKey)) }
        return operations
    }

    /// Changes bytes, these and those that could not be decoded. Others who follow the engine are told.
    ///
    /// An error does not say that the engine has changed nothing, so what is stored is read after it.
    func apply(_ operations: [StorageOperation]) async throws {
        do {
            try await StorageOrigin.$current.withValue(followed?.origin ?? StorageOrigin.current) {
                try await engine.apply(operations)
            }
        } catch {
            followed?.renewOrigin()
            refreshLater()
            throw error
        }
    }

    /// Tells the wrappers what is stored, after the turns that others wait for, and tries again until it can be read.
    private func refreshLater() {
        let isNew = isRefreshing.withLock { isRefreshing in
            defer { isRefreshing = true }
            return !isRefreshing
        }
        guard isNew else { return }
        Task { [weak self] in await retryUntilDone { await self?.isRefreshed() } }
    }

    private func isRefreshed() async -> Bool {
        do {
            try await turn.take { [self] in
                let data = try await fetch()
                // Within the turn no write fails. One that fails after it needs another refresh.
                isRefreshing.withLock { $0 = false }
                await announce(data)
            }
            return true
        } catch {
            boutiqueLogger.debug(
                "A value could not be read after a write has failed. Retrying.",
                metadata: ["key": "\(key)", "error": "\(error)"]
            )
            return false
        }
    }

    /// The bytes that could not be decoded and were kept aside, the oldest first.
    func fetchAside() async throws -> [(key: CacheKey, data: Data)] {
        var found: [(key: CacheKey, data: Data)] = []
        for key in keys.reversed() {
            var number = 0
            while let data = try await engine.fetch(key: Self.asideKey(key, number)) {
                found.append((Self.asideKey(key, number), data))
                number += 1
            }
        }
        return found
    }

    /// Where to keep bytes aside; `nil` if they are kept already.
    func asideKey(for data: Data) async throws -> CacheKey? {
        let kept = try await fetchAside()
        if kept.contains(where: { $0.data == data }) { return nil }
        var number = 0
        while kept.contains(where: { $0.key == Self.asideKey(key, number) }) { number += 1 }
        return Self.asideKey(key, number)
    }

    /// The key of the bytes that were kept aside after `number` others.
    private static func asideKey(_ key: CacheKey, _ number: Int) -> CacheKey {
        CacheKey(rawValue: UndecodableName.name(of: key.rawValue, number), kind: key.kind)
    }

    /// Calls a closure with the bytes, within their turn, when another wrapper or somebody else has changed them.
    func observe(_ owner: AnyObject, _ onChange: @escaping @Sendable (Data?) async -> Void) {
        observers.withLock { $0[ObjectIdentifier(owner)] = onChange }
    }

    func endObserving(_ owner: ObjectIdentifier) {
        // Released after the lock.
        _ = observers.withLock { $0.removeValue(forKey: owner) }
    }

    /// Tells the other wrappers what is stored now. Only called within the turn.
    func announce(_ data: Data?, by owner: AnyObject? = nil) async {
        let others = observers.withLock { observers in
            observers.filter { $0.key != owner.map(ObjectIdentifier.init) }.map(\.value)
        }
        for other in others { await other(data) }
    }

    /// Tells the wrappers what is stored now.
    func refresh() async throws {
        try await turn.take { [self] in await announce(try await fetch()) }
    }
}

extension CacheKey {
    /// The key of a value that was not given one. It is that of Boutique 2, so that each finds what the other has stored.
    static let uniqueValue = CacheKey("unique-value")

    /// The key of such a value before it was that of Boutique 2.
    fileprivate static let formerUniqueValue = CacheKey("async-stored-value")
}
