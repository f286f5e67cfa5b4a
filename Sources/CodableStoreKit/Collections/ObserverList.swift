/// Observers in the order in which they were added: of all objects, or of one object each.
///
/// A change finds its observers without a look at those of other objects.
struct ObserverList<Object: BaseCodableStoreable, Observer: AnyObject> {

    private struct Entry {
        let number: Int
        let observer: Observer
    }

    private var ofAll: [Entry] = []
    private var ofOne: [Identity<Object.ID>: [Entry]] = [:]
    /// The number of observers that were ever added.
    private var added = 0

    var isEmpty: Bool { ofAll.isEmpty && ofOne.isEmpty }

    /// Adds an observer.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - identity: The identity of its object, `nil` for all objects.
    mutating func add(_ observer: Observer, of identity: Identity<Object.ID>?) {
        let entry = Entry(number: added, observer: observer)
        added += 1
        if let identity { ofOne[identity, default: []].append(entry) } else { ofAll.append(entry) }
    }

    /// Removes an observer that was added for the same identity.
    mutating func remove(_ observer: Observer, of identity: Identity<Object.ID>?) {
        guard let identity else { return ofAll.removeAll { $0.observer === observer } }
        ofOne[identity]?.removeAll { $0.observer === observer }
        if ofOne[identity]?.isEmpty == true { ofOne[identity] = nil }
    }

    /// The observers of an object, in order.
    func observers(of object: Object) -> [Observer] {
        guard !ofOne.isEmpty, let some = ofOne[object.codableStoreIdentity] else { return ofAll.map(\.observer) }
        return (ofAll + some).sorted { $0.number < $1.number }.map(\.observer)
    }
}
