public import Bodega

extension LiveQuery {

    /// Creates a window over objects with their related items, and loads them in the background.
    ///
    /// ```swift
    /// let query = Query<Note>(sortedBy: SortDescriptor(\.title)).including(\.folderID, from: folders)
    /// let window = LiveQuery(query, in: notes, limit: 50)
    ///
    /// for row in window.items { print(row.object.title, row.related?.name ?? "no folder") }
    /// ```
    ///
    /// The window is patched when either side changes. A change of a related item reads that item, and an object whose
    /// reference has changed reads the item that it refers to now, unless another row of the window has it.
    ///
    /// If both collections belong to one database, each row shows its object and its related items at one moment: a
    /// transaction over both is shown in one step. Otherwise, the two sides are shown as they are read. Related items
    /// whose engine has no log of its changes are read when an object comes into the window, and by ``reload()``.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - storage: The storage of the objects.
    ///   - limit: The maximum number of objects; 100 by default. It does not limit their related items, which are all
    ///     in memory, also those of the objects in reserve.
    public nonisolated convenience init<Object, Related>(
        _ query: RelatedQuery<Object, Related>, in storage: ObjectStorage<Object>, limit: Int = 100
    )
    where
        Item == RelatedRow<Object, Related>, Object: StorableItem, Related: StorableItem, Related.Target: StorableItem
    {
        self.init(RelatedReader(query, in: storage), limit: limit, LiveQueryModel())
    }

    /// Shows the rows of another query with related items, see ``change(to:limit:)-(Query<Item>,_)``.
    ///
    /// - Parameters:
    ///   - query: The new query.
    ///   - limit: The maximum number of objects; by default, the present one.
    /// - Throws: The engine's error, or a `CancellationError`. The window then shows the query that it showed before.
    public func change<Object, Related>(to query: RelatedQuery<Object, Related>, limit: Int? = nil) async throws
    where
        Item == RelatedRow<Object, Related>, Object: StorableItem, Related: StorableItem, Related.Target: StorableItem
    {
        try await change(limit: limit) { (old: RelatedReader<Object, Related>) in old.changed(to: query) }
    }
}
