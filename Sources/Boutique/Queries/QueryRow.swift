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
