import Bodega
import Dispatch
import Foundation

/// One collection of one medium in this process: its records and who observes them. Stores share it.
final class CollectionCore: Sendable {

    let records: any RecordCollection
    let deliveries = DeliveryQueue()

    private struct Following {
        var observers = 0
        var end: (@Sendable () -> Void)?
    }

    private let observers = Locked<[ObjectIdentifier: any RecordObservers]>([:])
    private let following = Locked(Following())
    private let claim = Locked<(identity: String, type: ObjectIdentifier)?>(nil)
    private let strayState = Locked<Bool?>(nil)
    private let undecodable = Locked(Undecodable())

    /// Records that could not be decoded, with how many whole reads had begun when that was found out.
    private struct Undecodable {
        var keys: [CacheKey: Int] = [:]
        var reads = 0
    }

    init(_ records: any RecordCollection) {
        self.records = records
    }

    /// Who observes the objects of a type.
    func observers<Object: BaseCodableStoreable>(of type: Object.Type) -> Observers<Object> {
        observers.withLock { observers in
            if let known = observers[ObjectIdentifier(type)] as? Observers<Object> { return known }
            let new = Observers<Object>(self)
            observers[ObjectIdentifier(type)] = new
            return new
        }
    }

    /// Whether others have put objects there under keys of their own choice, `nil` if nobody has looked yet.
    var hasStrays: Bool? {
        get { strayState.withLock { $0 } }
        set { strayState.withLock { $0 = newValue } }
    }

    /// Takes note of a record that could not be decoded.
    func noteUndecodable(_ key: CacheKey) {
        undecodable.withLock { $0.keys[key] = $0.reads }
    }

    /// Which of some records could not be decoded when they were read.
    func undecodable(among keys: some Sequence<CacheKey>) -> Set<CacheKey> {
        undecodable.withLock { noted in noted.keys.isEmpty ? [] : Set(keys.filter { noted.keys[$0] != nil }) }
    }

    /// Forgets records that could not be decoded, because others are in their place.
    func forgetUndecodable(_ keys: Set<CacheKey>) {
        if keys.isEmpty { return }
        undecodable.withLock { noted in
            for key in keys { noted.keys[key] = nil }
        }
    }

    /// Reads all records, and forgets of those that could not be decoded the ones that by now can or are gone.
    ///
    /// - Parameter read: Reads, and takes note of what can't be decoded.
    func readingAll<Result>(_ read: () throws -> Result) rethrows -> Result {
        let number = undecodable.withLock { noted in
            noted.reads += 1
            return noted.reads
        }
        let result = try read()
        // What others have noted meanwhile may be newer than what was read.
        undecodable.withLock { noted in
            if !noted.keys.isEmpty { noted.keys = noted.keys.filter { $0.value >= number } }
        }
        return result
    }

    /// Claims the collection for a type.
    ///
    /// - Throws: ``Bodega/StorageError/Code/ambiguousCollection`` if another type has it, unless both name it.
    func claim(by type: Any.Type, _ name: CollectionName) throws {
        try claim.withLock { claim in
            guard let known = claim else {
                claim = (name.identity, ObjectIdentifier(type))
                return
            }
            let isSame = known.type == ObjectIdentifier(type)
            if known.identity == name.identity, isSame || !name.isDefault { return }
            throw StorageError(
                .ambiguousCollection,
                """
                The collection of \(String(reflecting: type)) is in use for objects of another type. Give each type a \
                codableStoreCollectionName of its own, and an SQLite engine of its own if it is shared with a Boutique \
                store.
                """
            )
        }
    }

    // MARK: Following others

    /// Follows others as long as somebody observes. What is followed keeps the collection, so observations go on when all
    /// stores are gone.
    func beginObservation() {
        following.withLock { following in
            following.observers += 1
            if following.observers == 1 { following.end = records.follow { self.note($0) } }
        }
    }

    /// Ends what ``beginObservation()`` has begun.
    func endObservation() {
        // Ended within the lock, so that nobody who begins meanwhile follows twice. What is followed with is let go of
        // outside of it.
        let ended = following.withLock { following in
            following.observers -= 1
            if following.observers > 0 { return nil as (@Sendable () -> Void)? }
            defer { following.end = nil }
            following.end?()
            return following.end
        }
        withExtendedLifetime(ended) {}
    }

    /// Takes note of what others have changed.
    private func note(_ effects: [SQLiteEffect]) {
        deliveries.begin()
        let observers = observers.withLock { Array($0.values) }
        for effect in effects {
            for observers in observers { observers.enqueue(effect) }
        }
        // The others' thread commits, and must not be held up.
        DispatchQueue.global().async { self.deliveries.end() }
    }
}

/// Observers of objects of any type.
protocol RecordObservers: AnyObject, Sendable {
    /// Hands in what others have done to a record.
    func enqueue(_ effect: SQLiteEffect)
}
