import DequeModule

/// Objects in the order in which they were first saved, with a lookup by identity.
///
/// Each object gets an increasing rank when it is added. The ranks are in ascending order, so a binary search finds the
/// index of an object, and a deletion need not update the entries of later objects.
///
/// A deletion moves the later objects in memory, because each hook of a controller receives all objects as an array.
/// The ranks are in a deque, which moves the shorter side.
struct ObjectList<Object: BaseCodableStoreable> {

    private(set) var objects: [Object]
    /// The rank of each object, ascending.
    private var ranks: Deque<Int>
    private var rankOfIdentity: [Identity<Object.ID>: Int]
    private var nextRank: Int

    /// The effect of an event on the list.
    enum Change {
        case none
        case added
        case replaced(Object, at: Int)
        case removed(Object, at: Int)
    }

    init(_ objects: [Object]) {
        self.objects = objects
        ranks = Deque(objects.indices)
        nextRank = objects.count
        rankOfIdentity = Dictionary(minimumCapacity: objects.count)
        for (rank, object) in objects.enumerated() { rankOfIdentity[object.codableStoreIdentity] = rank }
    }

    /// Applies an event. Idempotent.
    mutating func apply(_ event: CodableStore<Object>.ObserveEvent) -> Change {
        let identity = event.object.codableStoreIdentity
        let index = rankOfIdentity[identity].map(index(ofRank:))
        switch event {
        case .saved(let object, _, _):
            if let index {
                let old = objects[index]
                objects[index] = object
                return .replaced(old, at: index)
            }
            rankOfIdentity[identity] = nextRank
            ranks.append(nextRank)
            nextRank += 1
            objects.append(object)
            return .added
        case .deleted:
            guard let index else { return .none }
            rankOfIdentity[identity] = nil
            ranks.remove(at: index)
            return .removed(objects.remove(at: index), at: index)
        }
    }

    /// Returns a copy of the objects as they were before the last change.
    func objects(before change: Change) -> [Object] {
        var objects = objects
        switch change {
        case .none: break
        case .added: objects.removeLast()
        case .replaced(let old, let index): objects[index] = old
        case .removed(let old, let index): objects.insert(old, at: index)
        }
        return objects
    }

    private func index(ofRank rank: Int) -> Int {
        var (low, high) = (0, ranks.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ranks[middle] < rank { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
