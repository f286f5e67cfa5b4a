package import Boutique

/// Does what a store tells on a copy of its items, and notes what cannot be.
package struct EventReplay: Sendable {
    package private(set) var items: [Visit] = []
    /// How often each version was told as an item that was inserted or replaced.
    package private(set) var tellings: [String: Int] = [:]
    package private(set) var problems: [String] = []
    /// How often everything was told anew.
    package private(set) var reloads = 0

    package init() {}

    package mutating func apply(_ event: StoreEvent<Visit>) {
        switch event.operation {
        case .initialized: break
        case .loaded:
            if !items.isEmpty { reloads += 1 }
            items = event.items
        case .insert:
            for item in event.items { insert(item, event) }
        case .remove:
            for id in event.removed {
                guard let place = place(of: id) else {
                    problems.append("\(id) is removed, but is not there")
                    continue
                }
                items.remove(at: place)
            }
        }
    }

    private mutating func insert(_ item: Visit, _ event: StoreEvent<Visit>) {
        tellings[item.version, default: 0] += 1
        switch (place(of: item.id), event.inserted.contains(item.id)) {
        case (nil, true): items.append(item)
        case (let place?, false): items[place] = item
        case (nil, false): problems.append("\(item.id) is replaced, but is not there")
        case (_, true): problems.append("\(item.id) is inserted, but is there")
        }
    }

    private func place(of id: String) -> Int? {
        items.firstIndex { $0.id == id }
    }
}
