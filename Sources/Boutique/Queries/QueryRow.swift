import Bodega
import Foundation

/// An item of a window.
struct QueryRow<Item: StorableItem>: Sendable {
    let key: CacheKey
    let place: QueryPlace
    let item: Item
    /// Differs between two versions of an item.
    let version: Int

    typealias Match = (key: CacheKey, item: Item, version: Int)

    init(_ match: Match, at place: QueryPlace) {
        (key, item, version) = match
        self.place = place
    }

    /// The row of an item with what is related to it.
    init<Object>(_ row: QueryRow<Object>, showing item: Item, version: Int) {
        (key, place, self.item, self.version) = (row.key, row.place, item, version)
    }
}

extension QueryRow {

    /// The events that lead from some rows to others: removals, then insertions and as few moves as possible, then
    /// updates of the rows that keep their places.
    static func events(from old: [QueryRow], to new: [QueryRow]) -> [LiveQueryEvent<Item>] {
        let rearrangement = Rearrangement(from: old.map { $0.key }, to: new.map { $0.key })
        var events: [LiveQueryEvent<Item>] = rearrangement.steps.map { step in
            switch step {
            case .remove(let index): .removed(old[index].item, at: index)
            case .insert(let index, let target): .inserted(new[index].item, at: target)
            case .move(let index, let source, let target): .moved(new[index].item, from: source, to: target)
            }
        }
        for (before, after) in rearrangement.staying where old[before].version != new[after].version {
            events.append(.updated(new[after].item, at: after))
        }
        return events
    }
}
