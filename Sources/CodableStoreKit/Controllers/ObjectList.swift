/// Objects in the order in which they were first saved.
struct ObjectList<Object: BaseCodableStoreable> {

    private(set) var objects: [Object]
    private var places: [Object.ID: Int]

    init(_ objects: [Object]) {
        self.objects = objects
        places = [:]
        places.reserveCapacity(objects.count)
        notePlaces(from: 0)
    }

    /// Applies a change. One that has been applied before changes nothing.
    mutating func apply(_ event: CodableStore<Object>.ObserveEvent) {
        let place = places[event.object.codableStoreID]
        switch event {
        case .saved(let object, _, _):
            if let place {
                objects[place] = object
            } else {
                places[object.codableStoreID] = objects.count
                objects.append(object)
            }
        case .deleted(let object, _, _):
            guard let place else { return }
            objects.remove(at: place)
            places[object.codableStoreID] = nil
            notePlaces(from: place)
        }
    }

    private mutating func notePlaces(from start: Int) {
        for place in objects.indices[start...] { places[objects[place].codableStoreID] = place }
    }
}
