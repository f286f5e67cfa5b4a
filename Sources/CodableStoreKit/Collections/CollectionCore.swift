import Bodega
import Dispatch
import Foundation

/// One open collection of this process, shared by all stores on it: its records, its observers, and its type.
///
/// A change takes these steps:
///
/// 1. A writer calls `begin` of `deliveries` and then `update` of `records`, which plans and commits the change under
///    the lock or transaction of the records.
/// 2. Still under it, `committed` hands the change to the ``Observers``, so changes are enqueued in commit order.
/// 3. The writer calls `end` of `deliveries`, holding no lock, and the observers are called. In a transaction over
///    several collections, `committed` of all of its changes and then `end` follow its commit.
/// 4. Foreign changes arrive at `note`, also in order, on the thread that follows them. It enqueues them and ends the
///    delivery on another thread.
///
/// Each piece of state has its own lock. `following` is the only one that is held while other code runs:
/// `records.follow`, and the closure that ends it. Neither uses this lock, nor waits for a transaction.
final class CollectionCore: Sendable {

    let records: any RecordCollection
    let deliveries = DeliveryQueue()

    private struct Following {
        var observers = 0
        var end: (@Sendable () -> Void)?
        /// The collection itself while it has observers, so that later stores on it share it.
        var kept: CollectionCore?
    }

    private let observers = Locked<[ObjectIdentifier: any RecordObservers]>([:])
    private let following = Locked(Following())
    private let claim = Locked<(name: CollectionName, type: ObjectIdentifier)?>(nil)
    private let strayState = Locked<Bool?>(nil)
    private let undecodable = Locked(Undecodable())

    /// Records that could not be decoded, each with the number of full reads that had begun when this was found.
    private struct Undecodable {
        var keys: [CacheKey: Int] = [:]
        var reads = 0
    }

    init(_ records: any RecordCollection) {
        self.records = records
    }

    /// Runs an operation that may enqueue changes, and calls the observers after it, or after its transaction.
    func operating<Result>(_ body: () throws -> Result) rethrows -> Result {
        deliveries.begin()
        defer {
            if let transaction = ThreadTransaction.current {
                transaction.afterwards { self.deliveries.end() }
            } else {
                deliveries.end()
            }
        }
        return try body()
    }

    /// Returns the observers of the objects of a type.
    func observers<Object: BaseCodableStoreable>(of type: Object.Type) -> Observers<Object> {
        observers.withLock { observers in
            if let known = observers[ObjectIdentifier(type)] as? Observers<Object> { return known }
            let new = Observers<Object>(deliveries, of: self)
            observers[ObjectIdentifier(type)] = new
            return new
        }
    }

    /// Enqueues a change that was made with another type than those of the observers, to which it is as one of others.
    func enqueue(_ effect: RecordEffect, except own: any RecordObservers) {
        let observers = observers.withLock { $0.count < 2 ? [] : Array($0.values) }
        for other in observers where other !== own { other.enqueue(effect) }
    }

    /// Whether there are objects under keys that are not their identifiers', `nil` if this is not known yet.
    var hasStrays: Bool? {
        get { strayState.withLock { $0 } }
        set { strayState.withLock { $0 = newValue } }
    }

    /// Whether something would be forgotten if the collection were closed.
    var mustStay: Bool { undecodable.withLock { !$0.keys.isEmpty } }

    /// Remembers that a record could not be decoded.
    func noteUndecodable(_ key: CacheKey) {
        undecodable.withLock { $0.keys[key] = $0.reads }
    }

    /// Returns those of the keys whose records could not be decoded when they were last read.
    func undecodable(among keys: some Sequence<CacheKey>) -> Set<CacheKey> {
        undecodable.withLock { noted in noted.keys.isEmpty ? [] : Set(keys.filter { noted.keys[$0] != nil }) }
    }

    /// Forgets undecodable records that have been replaced.
    func forgetUndecodable(_ keys: Set<CacheKey>) {
        if keys.isEmpty { return }
        undecodable.withLock { noted in
            for key in keys { noted.keys[key] = nil }
        }
    }

    /// Reads all records, and forgets the undecodable ones that have become decodable or are gone.
    ///
    /// - Parameter read: Reads the records and calls ``noteUndecodable(_:)`` for those that cannot be decoded.
    func readingAll<Result>(_ read: () throws -> Result) rethrows -> Result {
        let number = undecodable.withLock { noted in
            noted.reads += 1
            return noted.reads
        }
        let result = try read()
        // A note that another thread made during the read may be newer than what was read.
        undecodable.withLock { noted in
            if !noted.keys.isEmpty { noted.keys = noted.keys.filter { $0.value >= number } }
        }
        return result
    }

    /// Claims the collection for a type.
    ///
    /// - Throws: ``Bodega/StorageError/Code/ambiguousCollection`` if another type has claimed it, unless both types
    ///   chose its name.
    func claim(by type: Any.Type, _ name: CollectionName) throws {
        try claim.withLock { claim in
            guard let known = claim else {
                claim = (name, ObjectIdentifier(type))
                return
            }
            let isSame = known.type == ObjectIdentifier(type)
            let areChosen = !known.name.isDefault && !name.isDefault
            if known.name.folder == name.folder, isSame || areChosen { return }
            throw StorageError(
                .ambiguousCollection,
                """
                The collection of \(String(reflecting: type)) already holds objects of another type. Give each type \
                its own codableStoreCollectionName, and its own SQLite engine if the engine is shared with a Boutique \
                store.
                """
            )
        }
    }

    // MARK: Following foreign changes

    /// Follows foreign changes while there are observers. The follower retains the collection, so observations continue
    /// after all stores are released.
    func beginObservation() {
        following.withLock { following in
            following.observers += 1
            if following.observers == 1 {
                following.end = records.follow { self.note($0) }
                following.kept = self
            }
        }
        // Outside of the lock, because it waits for other threads' transactions, in which observers can be added.
        records.catchUpFirst()
    }

    /// Balances ``beginObservation()``.
    func endObservation() {
        // The follower ends under the lock, so that an observation that begins concurrently does not start a second
        // one. It is released after the lock.
        let ended = following.withLock { following in
            following.observers -= 1
            if following.observers > 0 { return Following() }
            defer { following = Following() }
            following.end?()
            return following
        }
        withExtendedLifetime(ended) {}
    }

    /// Enqueues foreign changes.
    private func note(_ effects: [RecordEffect]) {
        deliveries.begin()
        let observers = observers.withLock { Array($0.values) }
        for effect in effects {
            for observers in observers { observers.enqueue(effect) }
        }
        // Observers must not block this thread, which may be committing another writer's change.
        DispatchQueue.global().async { self.deliveries.end() }
    }
}

/// Observers of objects of any type.
protocol RecordObservers: AnyObject, Sendable {
    /// Enqueues a foreign change.
    func enqueue(_ effect: RecordEffect)
}
