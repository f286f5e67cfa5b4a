public import Bodega

/// The sections of a ``SectionedLiveQuery`` as a property.
///
/// ```swift
/// final class CalendarController: ObservableObject {
///     @QueriedSections(upcoming, in: notes, limit: 50, sectionedBy: \.day) var days
///
///     func showMore() async throws {
///         try await $days.loadMore()
///     }
/// }
/// ```
///
/// The property is an array of ``LiveSection``, and its projection, `$days`, is the query's window. It is observed as a
/// property with ``Queried`` is.
@MainActor
@propertyWrapper
public struct QueriedSections<Value: Hashable & Sendable, Item: StorableItem> {
    private nonisolated let window: SectionedLiveQuery<Value, Item>
    private let enclosingObject = EnclosingObject()

    /// Creates a property for the first items of a query, in sections.
    ///
    /// - Parameters:
    ///   - query: The query, see ``SectionedLiveQuery`` for its order.
    ///   - storage: The storage of the items.
    ///   - limit: The maximum number of items in all sections; 100 by default.
    ///   - property: The property by whose value the items are in sections.
    public nonisolated init(
        _ query: Query<Item>, in storage: ObjectStorage<Item>, limit: Int = 100,
        sectionedBy property: any KeyPath<Item, Value> & Sendable
    ) {
        window = SectionedLiveQuery(query, in: storage, limit: limit, sectionedBy: property)
    }

    /// Creates a property for the first objects of a query with their related items, in sections.
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
        window = SectionedLiveQuery(query, in: storage, limit: limit, sectionedBy: property)
    }

    /// The sections, in the order of their first items.
    public var wrappedValue: [LiveSection<Value, Item>] { window.sections }

    /// The query's window.
    public var projectedValue: SectionedLiveQuery<Value, Item> { window }

    /// The sections, when the property belongs to an object.
    public static subscript<Object>(
        _enclosingInstance object: Object,
        wrapped wrapped: KeyPath<Object, [LiveSection<Value, Item>]>,
        storage storage: KeyPath<Object, Self>
    ) -> [LiveSection<Value, Item>] {
        window(of: object, storage).sections
    }

    /// The query's window, when the property belongs to an object.
    public static subscript<Object>(
        _enclosingInstance object: Object,
        projected projected: KeyPath<Object, SectionedLiveQuery<Value, Item>>,
        storage storage: KeyPath<Object, Self>
    ) -> SectionedLiveQuery<Value, Item> {
        window(of: object, storage)
    }

    private static func window<Object>(
        of object: Object, _ storage: KeyPath<Object, Self>
    ) -> SectionedLiveQuery<Value, Item> {
        let queried = object[keyPath: storage]
        queried.enclosingObject.forward(queried.window.objectWillChange, to: object)
        return queried.window
    }
}
