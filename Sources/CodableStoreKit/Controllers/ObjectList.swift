import DequeModule

/// Objects in the order in which they were first saved, and the index of each of them.
///
/// Each object gets a rank when it is added, a number that only grows. Ranks ascend in the order of the objects, so a binary
/// search among them finds an object's index, and a deletion need not update the entries of later objects.
///
/// A deletion moves the later objects in memory, as each hook of a controller gets all objects as an array. The ranks are
/// in a deque, which moves the shorter side.
struct ObjectList<Object: BaseCodableStoreable> {

    private(set) var objects: [Object]
    /// The rank of each object, ascending.
    private var ranks: Deque<Int>
    private var rankOfIdentity: [Identity<Object.ID>: Int]
    private var nextRank: Int

    /// What an event has changed.
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

    /// Applies a change. One that has been applied before changes nothing.
    mutating func apply(_ event: CodableStore<Object>.ObserveEvent) -> Change {
        let identity = event.object.codableStoreIdentity
        let place = rankOfIdentity[identity].map(place(ofRank:))
        switch event {
        case .saved(let object, _, _):
            if let place {
                let old = objects[place]
                objects[place] = object
                return .replaced(old, at: place)
            }
            rankOfIdentity[identity] = nextRank
            ranks.append(nextRank)
            nextRank += 1
            objects.append(object)
            return .added
        case .deleted:
            guard let place else { return .none }
            rankOfIdentity[identity] = nil
            ranks.remove(at: place)
            return .removed(objects.remove(at: place), at: place)
        }
    }

    /// The objects as they were before the last change, in a copy.
    func objects(before change: Change) -> [Object] {
        var objects = objects
        switch change {
        case .none: break
        case .added: objects.removeLast()
        case .replaced(let old, let place): objects[place] = old
        case .removed(let old, let place): objects.insert(old, at: place)
        }
        return objects
    }

    private func place(ofRank rank: Int) -> Int {
        var (low, high) = (0, ranks.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ranks[middle] < rank { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
