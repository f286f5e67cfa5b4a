/// The items of a ``Store`` as a property.
///
/// ```swift
/// final class NotesController: ObservableObject {
///     @Stored(in: .notes) var notes
///
///     func save(_ note: Note) async throws {
///         try await $notes.insert(note)
///     }
/// }
/// ```
///
/// The property is an array, and its projection, `$notes`, is the store. To inject a store, declare the property with
/// its type and set it in the initializer: `self._notes = Stored(in: store)`.
///
/// In an `ObservableObject`, a change of the store fires the object's `objectWillChange`, from the first time that the
/// property or its projection is used. The Observation framework tracks the property as it tracks ``Store/items``.
@MainActor
@propertyWrapper
public struct Stored<Item: StorableItem> {
    private nonisolated let store: Store<Item>
    private let enclosingObject = EnclosingObject()

    /// Creates a property for the items of a store.
    ///
    /// - Parameter store: The store.
    public nonisolated init(in store: Store<Item>) {
        self.store = store
    }

    /// The store's items, in insertion order.
    public var wrappedValue: [Item] { store.items }

    /// The store.
    public var projectedValue: Store<Item> { store }

    /// The store's items, when the property belongs to an object.
    public static subscript<Object>(
        _enclosingInstance object: Object,
        wrapped wrapped: KeyPath<Object, [Item]>,
        storage storage: KeyPath<Object, Self>
    ) -> [Item] {
        let stored = object[keyPath: storage]
        stored.enclosingObject.forward(stored.store.objectWillChange, to: object)
        return stored.store.items
    }

    /// The store, when the property belongs to an object.
    public static subscript<Object>(
        _enclosingInstance object: Object,
        projected projected: KeyPath<Object, Store<Item>>,
        storage storage: KeyPath<Object, Self>
    ) -> Store<Item> {
        let stored = object[keyPath: storage]
        stored.enclosingObject.forward(stored.store.objectWillChange, to: object)
        return stored.store
    }
}
