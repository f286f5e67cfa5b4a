/// A change of a ``LiveQuery``, or a snapshot of it.
///
/// Applied one after the other to an array, the events give the items of the query:
///
/// ```swift
/// for await event in window.events {
///     switch event {
///     case .loaded(let items): rows = items
///     case .inserted(let item, let index): rows.insert(item, at: index)
///     case .updated(let item, let index): rows[index] = item
///     case .moved(let item, let source, let target):
///         rows.remove(at: source)
///         rows.insert(item, at: target)
///     case .removed(_, let index): rows.remove(at: index)
///     }
/// }
/// ```
public enum LiveQueryEvent<Item: StorableItem>: Sendable {
    /// All items of the window. They replace what the reader knew before.
    case loaded([Item])
    /// An item appears at an index: it was added, or matches now, or has come into the window.
    case inserted(Item, at: Int)
    /// The item at an index has changed, and has kept its place.
    case updated(Item, at: Int)
    /// An item, which may have changed, is at another index, counted after its removal.
    case moved(Item, from: Int, to: Int)
    /// The item at an index disappears: it was removed, or does not match any more, or has left the window.
    case removed(Item, at: Int)
}

extension LiveQueryEvent {
    /// Applies the event to the items before it.
    func apply(to items: inout [Item]) {
        switch self {
        case .loaded(let all): items = all
        case .inserted(let item, let index): items.insert(item, at: index)
        case .updated(let item, let index): items[index] = item
        case .moved(let item, let source, let target):
            items.remove(at: source)
            items.insert(item, at: target)
        case .removed(_, let index): items.remove(at: index)
        }
    }
}

extension LiveQueryEvent: SubscribedEvent {
    static var describesLoading: Bool { false }

    static func snapshot(of items: [Item], isLoaded: Bool) -> Self { .loaded(items) }

    var isSnapshot: Bool {
        if case .loaded = self { true } else { false }
    }

    var weight: Int { 1 }
}
