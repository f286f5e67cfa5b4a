import Bodega

/// A large change of a store's items, made on a copy of them off the main actor. The main actor only shows it, like the
/// items of a reload.
struct PreparedChange<Item: StorableItem>: Sendable {
    /// The items after the change.
    let contents: OrderedItems<Item>
    /// The exceptions after the change.
    let exceptions: RecordExceptions
    let areItemsChanged: Bool
    /// The event of each step, or `nil` if there were no readers.
    let events: [StoreEvent<Item>]?

    /// Makes the changes of operations on a copy.
    @concurrent init(
        _ operations: [[StoreChange<Item>]], of contents: OrderedItems<Item>, _ exceptions: RecordExceptions,
        reportsEvents: Bool
    ) async {
        let changes = operations.joined()
        areItemsChanged = changes.contains { $0.affects(contents) }
        var contents = contents
        let events = changes.map { contents.apply($0, reportsEvent: reportsEvents) }
        self.contents = contents
        self.exceptions = exceptions
        self.events = reportsEvents ? events.compactMap { $0 } : nil
    }
}
