import Bodega

/// The items of a query on the main actor, and their observers.
@MainActor
final class LiveQueryModel<Item: StorableItem>: ObservedItems<WindowItems<Item>, LiveQueryEvent<Item>> {
    private(set) var hasMore = false
    private(set) var undecodable: [StorageError] = []

    /// - Parameter sections: The sections, without items, if there are any.
    nonisolated init(_ sections: (any ItemSections<Item>)? = nil) {
        super.init(WindowItems(sections: sections), .loading)
    }

    /// Returns what was read as a change, `nil` if it is shown already.
    func change<Contents: WindowContentsValue>(to update: WindowUpdate<Contents>) -> ShownChange?
    where Contents.Item == Item {
        let (isFirst, events) = (!hasLoaded, update.events)
        let (undecodable, hasMore) = (update.contents.undecodable, update.contents.hasMore)
        let isStateChanged =
            !state.isLoaded || hasMore != self.hasMore || self.undecodable.count + undecodable.count > 0
        if events.isEmpty, !isStateChanged { return nil }
        let points = (events.isEmpty ? [] : [itemsPoint]) + (isStateChanged ? [statePoint] : [])
        return change(points, publishes: !events.isEmpty || isFirst) { [self] _ in
            if !events.isEmpty { contents.show(events, or: update.all) }
            (self.hasMore, self.undecodable, state) = (hasMore, undecodable, .loaded)
            return isFirst ? [snapshot] : events
        }
    }

    /// Shows that the items could not be read. Items that are loaded stay.
    func fail(_ error: any Error) {
        // Each attempt to read can fail with the same error.
        if let known = state.error, "\(known)" == "\(error)" { return }
        show(.failed(error))
    }

    /// Shows that the engine could be read, and that the items that are loaded are those of the engine.
    func showSuccess() {
        if !state.isLoaded { show(.loaded) }
    }
}

/// The items of a window, as observers see them.
struct WindowItems<Item: StorableItem>: ObservedContents {
    private(set) var items: [Item] = []
    /// The items in sections, if they are to be.
    private(set) var sections: (any ItemSections<Item>)?
    var count: Int { items.count }

    init(sections: (any ItemSections<Item>)?) { self.sections = sections }

    /// Shows other items.
    ///
    /// - Parameters:
    ///   - events: What has changed.
    ///   - all: All items, if there are many changes. A few change the items in place, which copies them only if an
    ///     observer keeps them.
    @MainActor
    mutating func show(_ events: [LiveQueryEvent<Item>], or all: WindowItems?) {
        if let all {
            releaseElsewhere(self, count: count)
            self = all
        } else {
            for event in events {
                event.apply(to: &items)
                sections?.apply(event)
            }
        }
    }

    /// Returns other items, in sections as these.
    func replaced(with items: [Item]) -> WindowItems {
        var new = WindowItems(sections: sections?.replaced(with: items))
        new.items = items
        return new
    }
}
