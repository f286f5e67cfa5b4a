import Bodega
import Foundation
import Logging

/// The bytes of a value in an engine. All wrappers of one key and one engine object share it.
final class EngineValue: Sendable {
    let engine: any StorageEngine
    let key: CacheKey

    /// Whoever reads and then writes takes it, so that no change is lost.
    let turn = AsyncTurn()

    private let following = Locked<Task<Void, Never>?>(nil)
    private let observers = Locked<[ObjectIdentifier: @Sendable (Data?) async -> Void]>([:])
    private let identity: Identity?

    private struct Identity: Hashable {
        let engine: ObjectIdentifier
        let key: CacheKey
    }

    private struct Weak: Sendable {
        weak var value: EngineValue?
    }

    private static let all = Locked<[Identity: Weak]>([:])

    /// The bytes under a key in an engine.
    static func shared(_ engine: any StorageEngine, key: CacheKey) -> EngineValue {
        // Only objects have an identity; other engines are not known to be the same.
        guard type(of: engine) is AnyClass else { return EngineValue(engine, key: key, identity: nil) }
        let identity = Identity(engine: ObjectIdentifier(engine as AnyObject), key: key)
        return all.withLock { all in
            if let value = all[identity]?.value { return value }
            let value = EngineValue(engine, key: key, identity: identity)
            all[identity] = Weak(value: value)
            return value
        }
    }

    private init(_ engine: any StorageEngine, key: CacheKey, identity: Identity?) {
        self.engine = engine
        self.key = key
        self.identity = identity
        if let engine = engine as? any ProcessObservableEngine { follow(engine) }
    }

    deinit {
        following.withLock { $0?.cancel() }
        guard let identity else { return }
        // Another may have taken the place already.
        Self.all.withLock { all in
            if all[identity]?.value == nil { all[identity] = nil }
        }
    }

    /// Reads the bytes.
    func fetch() async throws -> Data? {
        try await engine.fetch(key: key)
    }

    /// The key under which the bytes are kept that could not be decoded as the so many-th.
    func asideKey(_ number: Int) -> CacheKey {
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

    /// Hears of changes by others, as far as the engine tells of them.
    private func follow(_ engine: any ProcessObservableEngine) {
        let changes = engine.changes()
        let task = Task { [weak self] in
            do {
                for try await change in changes {
                    guard let self else { return }
                    if case .items(let keys) = change, !keys.contains(key) { continue }
                    await refresh()
                }
            } catch {
                boutiqueLogger.error(
                    "A value does not follow the changes of others any longer. Call reload() to see them.",
                    metadata: ["error": "\(error)"]
                )
            }
        }
        following.withLock { $0 = task }
    }

    /// Tells the wrappers what is stored now.
    private func refresh() async {
        do {
            try await turn.take { [self] in await announce(try await fetch()) }
        } catch {
            boutiqueLogger.error(
                "A value that others have changed could not be read.",
                metadata: ["key": "\(key)", "error": "\(error)"]
            )
        }
    }
}
