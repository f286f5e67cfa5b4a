public import Bodega

/// A ``LiveQuery`` whose items are in sections by a property.
///
/// ```swift
/// let query = Query<Note>(sortedBy: SortDescriptor(\.dueDate))
/// let window = SectionedLiveQuery(query, in: notes, limit: 50, sectionedBy: \.day)
///
/// for section in window.sections {
///     print(section.value)
///     for item in section.items { print("-", item.title) }
/// }
/// ```
///
/// The sections consist of the items of the window. A section begins with its first item in the order of the query. So
/// a query should be sorted by the property first, or by one that groups its values, such as a date for its day. Other
/// orders show no value twice, either: a section has all items with its value, where the first one is. Then the items
/// of the sections are not in the order of ``LiveQuery/items``, and each change costs a pass over the whole window on
/// the main actor.
///
/// The property is read when an item changes. It must depend on the item only: a section such as "today" does not
/// change at midnight.
@MainActor
public final class SectionedLiveQuery<Value: Hashable & Sendable, Item: StorableItem>: LiveQuery<Item> {

    /// The sections, in the order of their first items. `$sections` publishes them.
    ///
    /// The Observation framework tracks them together with ``LiveQuery/items``.
    @LiveQuerySections<Value, Item> public var sections: [LiveSection<Value, Item>]

    /// Creates a window and loads its items in the background.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - storage: The storage of the items.
    ///   - limit: The maximum number of items in all sections; 100 by default. ``LiveQuery/loadMore(_:)`` raises it.
    ///   - property: The property by whose value the items are in sections.
    public nonisolated init(
        _ query: Query<Item>, in storage: ObjectStorage<Item>, limit: Int = 100,
        sectionedBy property: any KeyPath<Item, Value> & Sendable
    ) {
        let sections = SectionList(by: property)
        let model = LiveQueryModel<Item>(sections)
        _sections = LiveQuerySections(model)
        super.init(QueryReader(storage: storage, query: query, sections: sections), limit: limit, model)
    }

    /// Creates a window over objects with their related items, and loads them in the background.
    ///
    /// ```swift
    /// let query = Query<Note>(sortedBy: SortDescriptor(\.folderID)).including(\.folderID, from: folders)
    /// let window = SectionedLiveQuery(query, in: notes, sectionedBy: \.object.folderID)
    /// ```
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - storage: The storage of the objects.
    ///   - limit: The maximum number of objects in all sections; 100 by default.
    ///   - property: The property of the rows by whose value they are in sections.
    public nonisolated init<Object, Related>(
        _ query: RelatedQuery<Object, Related>, in storage: ObjectStorage<Object>, limit: Int = 100,
        sectionedBy property: any KeyPath<Item, Value> & Sendable
    )
    where
        Item == RelatedRow<Object, Related>, Object: StorableItem, Related: StorableItem, Related.Target: StorableItem
    {
        let sections = SectionList(by: property)
        let model = LiveQueryModel<Item>(sections)
        _sections = LiveQuerySections(model)
        super.init(RelatedReader(query, in: storage, sections: sections), limit: limit, model)
    }
}
