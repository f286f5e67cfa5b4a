import Bodega

/// The observers of collections that could not be opened yet, of all stores of the process. They begin when any store
/// opens the collection. The stores cannot retain them, because a store may exist only for one call.
enum PendingObservers {

    /// The identity of a collection that could not be opened.
    struct Place: Hashable, Sendable {
        let location: CodableStoreLocation
        let container: CodableStoreContainer
        let type: ObjectIdentifier
    }

    private static let waiting = Locked<[Place: [any AnyObject & Sendable]]>([:])

    /// Adds an observer that begins when the collection is opened.
    static func add<Object>(_ observer: PendingObserver<Object>, at place: Place) {
        waiting.withLock { $0[place, default: []].append(observer) }
    }

    /// Removes an observer that has begun or ended.
    static func remove<Object>(_ observer: PendingObserver<Object>, at place: Place) {
        waiting.withLock { waiting in
            waiting[place]?.removeAll { $0 === observer }
            if waiting[place]?.isEmpty == true { waiting[place] = nil }
        }
    }

    /// Begins the pending observers of a collection.
    static func begin<Object>(at place: @autoclosure () -> Place, with observers: Observers<Object>) {
        // The place is rarely needed, and takes time to create.
        if waiting.withLock({ $0.isEmpty }) { return }
        let place = place()
        let ready = waiting.withLock { $0.removeValue(forKey: place) }
        for case let observer as PendingObserver<Object> in ready ?? [] { observer.begin(with: observers) }
    }
}
