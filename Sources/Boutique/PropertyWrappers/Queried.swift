public import Bodega

/// The items of a ``LiveQuery`` as a property.
///
/// ```swift
/// final class OverdueController: ObservableObject {
///     @Queried(overdue, in: notes, limit: 50) var overdue
///
///     func showMore() async throws {
///         try await $overdue.loadMore()
///     }
/// }
/// ```
///
/// The property is an array, and its projection, `$overdue`, is the query's window. To inject a query, declare the
/// property with its type and set it in the initializer: `self._overdue = Queried(query, in: storage)`.
///
/// In an `ObservableObject`, a change of the window fires the object's `objectWillChange`, from the first time that the
/// property or its projection is used. The Observation framework tracks the property as it tracks ``LiveQuery/items``.
@MainActor
@propertyWrapper
public struct Queried<Item: StorableItem> {
    private nonisolated let window: LiveQuery<Item>
    private let enclosingObject = EnclosingObject()

    /// Creates a property for the first items of a query.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - storage: The storage of the items.
    ///   - limit: The maximum number of items; 100 by default.
    public nonisolated init(_ query: Query<Item>, in storage: ObjectStorage<Item>, limit: Int = 100) {
        self.init(LiveQuery(query, in: storage, limit: limit))
    }

    nonisolated init(_ window: LiveQuery<Item>) { self.window = window }

    /// The items, in the order of the query.
    public var wrappedValue: [Item] { window.items }

    /// The query's window.
    public var projectedValue: LiveQuery<Item> { window }

    /// The items, when the property belongs to an object.
    public static subscript<Object>(
        _enclosingInstance object: Object,
        wrapped wrapped: KeyPath<Object, [Item]>,
        storage storage: KeyPath<Object, Self>
    ) -> [Item] {
        let queried = object[keyPath: storage]
        queried.enclosingObject.forward(queried.window.objectWillChange, to: object)
        return queried.window.items
    }

    /// The query's window, when the property belongs to an object.
    public static subscript<Object>(
        _enclosingInstance object: Object,
        projected projected: KeyPath<Object, LiveQuery<Item>>,
        storage storage: KeyPath<Object, Self>
    ) -> LiveQuery<Item> {
        let queried = object[keyPath: storage]
        queried.enclosingObject.forward(queried.window.objectWillChange, to: object)
        return queried.window
    }
}

extension Queried {
    /// Creates a property for the first objects of a query, with their related items.
    ///
    /// ```swift
    /// @Queried(query.including(\.folderID, from: folders), in: notes) var rows
    /// ```
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - storage: The storage of the objects.
    ///   - limit: The maximum number of objects; 100 by default.
    public nonisolated init<Object, Related>(
        _ query: RelatedQuery<Object, Related>, in storage: ObjectStorage<Object>, limit: Int = 100
    )
    where
        Item == RelatedRow<Object, Related>, Object: StorableItem, Related: StorableItem, Related.Target: StorableItem
    {
        self.init(LiveQuery(query, in: storage, limit: limit))
    }
}
