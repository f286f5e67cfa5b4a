import Bodega

/// The observers of collections that could not be opened yet, of all stores of the process. They begin when any store has
/// opened the collection: one that only lives for a call can't keep them.
enum PendingObservers {

    /// A collection, as those who can't open it know it.
    struct Place: Hashable, Sendable {
        let medium: CodableStoreMedium
        let container: CodableStoreContainer
        let type: ObjectIdentifier
    }

    private static let waiting = Locked<[Place: [any AnyObject & Sendable]]>([:])

    /// Lets an observer begin when the collection is opened.
    static func add<Object>(_ observer: PendingObserver<Object>, at place: Place) {
        waiting.withLock { $0[place, default: []].append(observer) }
    }

    /// Forgets an observer that has ended.
    static func remove<Object>(_ observer: PendingObserver<Object>, at place: Place) {
        waiting.withLock { waiting in
            waiting[place]?.removeAll { $0 === observer }
            if waiting[place]?.isEmpty == true { waiting[place] = nil }
        }
    }

    /// Lets those who wait for a collection begin.
    static func begin<Object>(at place: @autoclosure () -> Place, with observers: Observers<Object>) {
        // Nearly always nobody waits, so the place need not be found out.
        if waiting.withLock({ $0.isEmpty }) { return }
        let place = place()
        let ready = waiting.withLock { $0.removeValue(forKey: place) }
        for case let observer as PendingObserver<Object> in ready ?? [] { observer.begin(with: observers) }
    }
}
