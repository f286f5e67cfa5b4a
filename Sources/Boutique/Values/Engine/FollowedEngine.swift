import Bodega
import Foundation
import Logging

/// Hears for all values in one engine what others change there.
final class FollowedEngine: Sendable {

    private let engine: any ObservableStorageEngine
    private let identity: ObjectIdentifier?
    private let currentOrigin = Locked(StorageOrigin())
    private let cursor = Locked<StorageCursor?>(nil)
    private let values = Locked<[CacheKey: [Weak<EngineValue>]]>([:])
    private let following = Locked<Task<Void, Never>?>(nil)

    private static let all = Locked<[ObjectIdentifier: Weak<FollowedEngine>]>([:])

    /// Follows an engine, once for all who ask; `nil` if it tells nothing.
    static func shared(_ engine: any StorageEngine) -> FollowedEngine? {
        guard let engine = engine as? any ObservableStorageEngine else { return nil }
        // Only objects have an identity; other engines are not known to be the same.
        guard type(of: engine) is AnyClass else {
            let new = FollowedEngine(engine, identity: nil)
            new.follow()
            return new
        }
        let identity = ObjectIdentifier(engine as AnyObject)
        let new = FollowedEngine(engine, identity: identity)
        let followed = all.withLock { all in
            if let known = all[identity]?.object { return known }
            all[identity] = Weak(new)
            return new
        }
        if followed === new { new.follow() }
        return followed
    }

    private init(_ engine: any ObservableStorageEngine, identity: ObjectIdentifier?) {
        self.engine = engine
        self.identity = identity
    }

    deinit {
        following.withLock { $0.take() }?.cancel()
        guard let identity else { return }
        Self.all.withLock { all in
            // Another may have taken the place already.
            if all[identity]?.identity == ObjectIdentifier(self) { all[identity] = nil }
        }
    }

    private func follow() {
        let signals = engine.changeSignals()
        let task = Task { [weak self] in
            for await _ in signals { await retryUntilDone { await self?.catchUp() } }
        }
        following.withLock { $0 = task }
    }

    /// The origin of the changes of these values.
    var origin: StorageOrigin { currentOrigin.withLock { $0 } }

    /// Takes a new origin, after a write whose outcome is not known. If the engine applies it late, it is the change of
    /// another origin, and is shown like any other.
    func renewOrigin() {
        currentOrigin.withLock { $0 = StorageOrigin() }
    }

    /// Tells a value of changes under its keys from now on.
    func add(_ value: EngineValue) {
        values.withLock { values in
            for key in value.keys { values[key, default: []].append(Weak(value)) }
        }
    }

    /// Forgets a value that ends. Another may have taken its place.
    func remove(_ keys: [CacheKey], _ identity: ObjectIdentifier) {
        values.withLock { values in
            for key in keys {
                values[key]?.removeAll { $0.identity == identity }
                if values[key]?.isEmpty == true { values[key] = nil }
            }
        }
    }

    /// Tells the values what others have changed.
    ///
    /// - Returns: Whether that is done, as far as it can be. Otherwise it can be tried again.
    private func catchUp() async -> Bool {
        do {
            while try await !tellNext() {}
            return true
        } catch let error as StorageError where error.code == .readOnly {
            boutiqueLogger.debug(
                "There is no history of the changes of others yet, and it can't be begun here.",
                metadata: ["error": "\(error)"]
            )
            return true
        } catch {
            boutiqueLogger.warning(
                "Values that others may have changed could not be read. Retrying…",
                metadata: ["error": "\(error)"]
            )
            return false
        }
    }

    /// Reads what comes next.
    ///
    /// - Returns: Whether there is no more.
    private func tellNext() async throws -> Bool {
        let origin = origin
        guard
            let place = cursor.withLock({ $0 }),
            let delta = try await engine.fetchChanges(since: place, excluding: origin)
        else {
            let now = try await engine.fetchCursor()
            for value in values.withLock({ $0.values.joined().compactMap(\.object) }) { try await value.refresh() }
            cursor.withLock { $0 = now }
            return true
        }
        // If the origin has been renewed in the meantime, a late write of the old one may have been omitted.
        guard origin == self.origin else { return false }
        let changed = Set(delta.changes.lazy.filter { $0.origin != origin }.map(\.key))
        let concerned = values.withLock { values in changed.flatMap { values[$0, default: []].compactMap(\.object) } }
        for value in concerned { try await value.refresh() }
        cursor.withLock { $0 = delta.cursor }
        return delta.isComplete
    }
}

/// A reference that does not keep its object alive.
final class Weak<Object: AnyObject & Sendable>: Sendable {
    // Set once; `weak let` needs a newer compiler than the package.
    nonisolated(unsafe) private(set) weak var object: Object?

    /// The identity of the object, also when it is gone. To compare it holds nothing.
    let identity: ObjectIdentifier

    init(_ object: Object) {
        self.object = object
        identity = ObjectIdentifier(object)
    }
}
