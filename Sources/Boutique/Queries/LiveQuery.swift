public import Bodega
public import Observation

/// A live window over the result of a query: its first items, which change as the engine does.
///
/// ```swift
/// let overdue = Query<Note>(
///     where: #Predicate { !$0.isDone && $0.dueDate < now }, sortedBy: SortDescriptor(\.dueDate))
/// let window = LiveQuery(overdue, in: notes, limit: 50)
///
/// for item in window.items { print(item.title) }
/// try await window.loadMore()
/// ```
///
/// A ``Store`` has all of its items in memory. A window has as many as its limit, and at most 256 or as many again in
/// reserve, however large the collection is. Its cost does not depend on the size of the collection with an index over
/// the properties that its condition compares for equality, followed by those of its order, see `Queryable`. With an
/// index over the first property of the order alone, a window that is sorted by several ones also reads the items that
/// are equal to its last one in that property. A condition that few items meet needs an index, too.
///
/// ## What you can rely on
/// - The window shows the first ``limit`` matches in the order of the query. Each change of any writer, in this process
///   or another, is shown once, at its place, in the order of the engine's log.
/// - The window is patched: a change reads the changed items only, and finds their places by binary search. When more
///   items leave the window than it has in reserve, it reads the next ones from its edge. There is one exception: of a
///   search without sort descriptors, it reads all items after each change, because each item can change how relevant
///   all others are.
/// - Many changes are prepared off the main actor. A few move the items of ``items`` in place, unless an observer keeps
///   the array, which is then copied.
/// - If the engine can't be read, the items stay, ``state`` is ``StoreState/failed(_:)``, and the window tries again.
///   If only its log can't be read, as while the base of a mirror is away, the window shows the items, and tries again
///   to follow the changes.
///
/// This needs an engine that has a log of its changes. With another engine, ``reload()`` reads the
/// items again.
///
/// ## Observing changes
/// The Observation framework tracks ``items``, ``state``, ``hasMore`` and ``undecodable``. The query is also an
/// `ObservableObject`, `$items` publishes the items, and ``events`` is an asynchronous sequence of insertions, updates,
/// moves and removals. A ``SectionedLiveQuery`` has the items in sections.
@MainActor
public class LiveQuery<Item: StorableItem>: ObservableObject, Observable {

    /// The items, in the order of the query. `$items` publishes them.
    @LiveQueryItems public var items: [Item]

    /// A publisher that emits before ``items`` or another property changes.
    public nonisolated var objectWillChange: ObservableObjectPublisher { model.objectChanges.publisher }

    private let model: LiveQueryModel<Item>
    private let loader: any WindowLoader

    /// Creates a window and loads its items in the background.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - storage: The storage of the items.
    ///   - limit: The maximum number of items; 100 by default. ``loadMore(_:)`` raises it.
    public nonisolated convenience init(_ query: Query<Item>, in storage: ObjectStorage<Item>, limit: Int = 100) {
        self.init(QueryReader(storage: storage, query: query), limit: limit, LiveQueryModel())
    }

    nonisolated init<Reader: WindowReader>(_ reader: Reader, limit: Int, _ model: LiveQueryModel<Item>)
    where Reader.Contents.Item == Item {
        self.model = model
        loader = LiveQueryLoader(reader, limit: limit, model)
        _items = LiveQueryItems(model)
    }

    deinit {
        loader.end()
        Task { @MainActor [model] in model.finish() }
    }

    // MARK: Reading

    /// The maximum number of items that the window shows.
    public var limit: Int {
        model.statePoint.access()
        return loader.limit
    }

    /// Whether there are matching items that the window does not show.
    public var hasMore: Bool {
        model.statePoint.access()
        return model.hasMore
    }

    /// The outcome of the last attempt to read the engine.
    ///
    /// It is ``StoreState/failed(_:)`` if the engine could not be read, also after the items were loaded. They stay,
    /// and may differ from those of the engine then. The window tries again, and the state is ``StoreState/loaded``
    /// when it succeeds.
    public var state: StoreState {
        model.observedState
    }

    /// The errors of records that the window has read and that could not be decoded or decrypted, each with the
    /// record's key; at most 1,000.
    public var undecodable: [StorageError] {
        model.statePoint.access()
        return model.undecodable
    }

    /// The events of the window, as a new stream for each use of this property. A stream has one reader.
    ///
    /// The first event is a snapshot, ``LiveQueryEvent/loaded(_:)``, as soon as the items are loaded. A reader that
    /// falls too far behind receives another snapshot instead of the events that it has missed. The stream ends when
    /// the query is deallocated.
    public var events: AsyncStream<LiveQueryEvent<Item>> { model.events() }

    // MARK: Loading

    /// Waits until the items are loaded. If they are loaded already, it returns immediately.
    ///
    /// - Throws: The engine's error if the items could not be read.
    public func itemsHaveLoaded() async throws {
        if model.state.isLoaded { return }
        do {
            try await loader.catchUp()
        } catch  where model.state.isLoaded {
            // The items are read, but the log is not: the follower tries again.
        }
    }

    /// Shows more items.
    ///
    /// - Parameter count: The number of items; by default, as many as the first limit.
    /// - Throws: The engine's error if they could not be read. The window is then unchanged.
    public func loadMore(_ count: Int? = nil) async throws { try await loader.loadMore(count) }

    /// Shows the items of another query, for example while the user types into a search field.
    ///
    /// The items stay until those of the new query are read. Observers and ``events`` then get the difference: items
    /// that are in both results are not removed and inserted again. A later call ends the reads of an earlier one,
    /// which then returns without an effect.
    ///
    /// ```swift
    /// func textChanged(to text: String) async throws {
    ///     try await window.change(to: Query(where: #Predicate { $0.title.contains(text) }))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - query: The new query.
    ///   - limit: The maximum number of items; by default, the present one.
    /// - Throws: The engine's error, or a `CancellationError`. The window then shows the query that it showed before.
    public func change(to query: Query<Item>, limit: Int? = nil) async throws {
        try await change(limit: limit) { (old: QueryReader<Item>) in old.changed(to: query) }
    }

    /// Shows what another reader reads.
    ///
    /// - Throws: `StorageError.Code.invalidArgument` if the window has a reader of another kind.
    func change<Reader: WindowReader>(limit: Int?, _ reader: (Reader) -> Reader) async throws {
        guard let loader = loader as? LiveQueryLoader<Reader> else {
            throw StorageError(
                .invalidArgument,
                "A window of rows with related items can only change to a query that includes related items.")
        }
        try await loader.change(to: reader(loader.reader), limit: limit)
    }

    /// Reads the items again.
    ///
    /// - Throws: The engine's error. The items that are loaded stay.
    public func reload() async throws { try await loader.reload() }
}
