package import Boutique

/// Applies a store's events to a copy of its items, and records events that don't fit.
package struct EventReplay: Sendable {
    package private(set) var items: [Visit] = []
    /// The number of events that inserted each version or replaced an item with it.
    package private(set) var reports: [String: Int] = [:]
    package private(set) var problems: [String] = []
    /// The number of complete reloads.
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
            for id in event.removedIDs {
                guard let place = place(of: id) else {
                    problems.append("\(id) is removed, but is not there")
                    continue
                }
                items.remove(at: place)
            }
        }
    }

    private mutating func insert(_ item: Visit, _ event: StoreEvent<Visit>) {
        reports[item.version, default: 0] += 1
        switch (place(of: item.id), event.insertedIDs.contains(item.id)) {
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
