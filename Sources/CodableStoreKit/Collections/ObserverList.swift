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
    /// - Returns: The observer's number.
    mutating func add(_ observer: Observer, of identity: Identity<Object.ID>?) -> Int {
        let entry = Entry(number: added, observer: observer)
        added += 1
        if let identity { ofOne[identity, default: []].append(entry) } else { ofAll.append(entry) }
        return entry.number
    }

    /// Removes the observer with a number, which was added for the same identity.
    mutating func remove(_ number: Int, of identity: Identity<Object.ID>?) {
        guard let identity else { return Self.remove(number, from: &ofAll) }
        Self.remove(number, from: &ofOne[identity, default: []])
        if ofOne[identity]?.isEmpty == true { ofOne[identity] = nil }
    }

    /// Finds an entry by binary search: a program can end the observations of many objects one after the other.
    private static func remove(_ number: Int, from entries: inout [Entry]) {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number < number { low = middle + 1 } else { high = middle }
        }
        if low < entries.count, entries[low].number == number { entries.remove(at: low) }
    }

    /// The observers of an object, in order.
    func observers(of object: Object) -> [Observer] {
        guard !ofOne.isEmpty, let some = ofOne[object.codableStoreIdentity] else { return ofAll.map(\.observer) }
        return (ofAll + some).sorted { $0.number < $1.number }.map(\.observer)
    }
}
