import Bodega

extension Store {

    /// Operations that are carried out together, all or nothing, when ``run()`` is called.
    ///
    /// ```swift
    /// try await store
    ///     .removeAll()
    ///     .insert(notes)
    ///     .run()
    /// ```
    ///
    /// It is one object: what is added to it counts for all who hold it.
    @MainActor
    public final class Operation {
        private let store: Store
        private var steps: [StoreStep<Item>]
        private var hasRun = false

        fileprivate init(store: Store, _ step: StoreStep<Item>) {
            self.store = store
            steps = [step]
        }

        /// Carries out the operations in order, as one batch and one change.
        ///
        /// Once it has been called, a further call carries out nothing, and what is added counts no more; the call returns
        /// when the first one has ended. After a failure it can be called again.
        ///
        /// - Throws: A `StorageError` if an item could not be encoded or they could not be written. Nothing was changed
        ///   then.
        public func run() async throws {
            if hasRun { return try await store.pipeline.perform(.exclusive {}) }
            hasRun = true
            do {
                try await store.pipeline.perform(.steps(steps))
            } catch {
                hasRun = false
                throw error
            }
        }

        /// Then inserts an item, or replaces the one with its identifier.
        ///
        /// - Parameter item: The item.
        /// - Returns: The operation itself.
        @discardableResult
        public func insert(_ item: Item) async throws -> Operation { then(.insert([item])) }

        /// Then inserts items, or replaces those with their identifiers.
        ///
        /// - Parameter items: The items. Of several with one identifier the last wins, at the place of the first.
        /// - Returns: The operation itself.
        @discardableResult
        public func insert(_ items: [Item]) async throws -> Operation { then(.insert(items)) }

        /// Then inserts an item; the same as ``insert(_:)-(Item)``.
        ///
        /// - Parameter item: The item.
        /// - Returns: The operation itself.
        @discardableResult
        public func add(_ item: Item) async throws -> Operation { then(.insert([item])) }

        /// Then inserts items; the same as ``insert(_:)-([Item])``.
        ///
        /// - Parameter items: The items.
        /// - Returns: The operation itself.
        @discardableResult
        public func add(_ items: [Item]) async throws -> Operation { then(.insert(items)) }

        /// Then removes an item. It need not be there.
        ///
        /// - Parameter item: The item; only its identifier counts.
        /// - Returns: The operation itself.
        @discardableResult
        public func remove(_ item: Item) async throws -> Operation { then(.removeItems([item])) }

        /// Then removes items. They need not be there.
        ///
        /// - Parameter items: The items; only their identifiers count.
        /// - Returns: The operation itself.
        @discardableResult
        public func remove(_ items: [Item]) async throws -> Operation { then(.removeItems(items)) }

        /// Then removes an item. It need not be there.
        ///
        /// - Parameter id: The item's identifier.
        /// - Returns: The operation itself.
        @discardableResult
        public func remove(id: String) async throws -> Operation { then(.remove([CacheKey(id)])) }

        /// Then removes all items.
        ///
        /// - Returns: The operation itself.
        @discardableResult
        public func removeAll() async throws -> Operation { then(.removeAll) }

        private func then(_ step: StoreStep<Item>) -> Operation {
            steps.append(step)
            return self
        }
    }
}

// The first operation of a chain. These and those above are async and throw, as in Boutique: an operation whose `await` was
// forgotten is an error, not a chain that is never run, and code written for Boutique compiles without warnings.
extension Store {

    /// Begins a chain of operations by inserting an item. ``Operation/run()`` carries it out.
    ///
    /// - Parameter item: The item.
    @_disfavoredOverload
    public func insert(_ item: Item) async throws -> Operation { Operation(store: self, .insert([item])) }

    /// Begins a chain of operations by inserting items. ``Operation/run()`` carries it out.
    ///
    /// - Parameter items: The items. Of several with one identifier the last wins, at the place of the first.
    @_disfavoredOverload
    public func insert(_ items: [Item]) async throws -> Operation { Operation(store: self, .insert(items)) }

    /// Begins a chain of operations by inserting an item. ``Operation/run()`` carries it out.
    ///
    /// - Parameter item: The item.
    @_disfavoredOverload
    public func add(_ item: Item) async throws -> Operation { Operation(store: self, .insert([item])) }

    /// Begins a chain of operations by inserting items. ``Operation/run()`` carries it out.
    ///
    /// - Parameter items: The items.
    @_disfavoredOverload
    public func add(_ items: [Item]) async throws -> Operation { Operation(store: self, .insert(items)) }

    /// Begins a chain of operations by removing an item. ``Operation/run()`` carries it out.
    ///
    /// - Parameter item: The item; only its identifier counts.
    @_disfavoredOverload
    public func remove(_ item: Item) async throws -> Operation { Operation(store: self, .removeItems([item])) }

    /// Begins a chain of operations by removing items. ``Operation/run()`` carries it out.
    ///
    /// - Parameter items: The items; only their identifiers count.
    @_disfavoredOverload
    public func remove(_ items: [Item]) async throws -> Operation { Operation(store: self, .removeItems(items)) }

    /// Begins a chain of operations by removing an item. ``Operation/run()`` carries it out.
    ///
    /// - Parameter id: The item's identifier.
    @_disfavoredOverload
    public func remove(id: String) async throws -> Operation { Operation(store: self, .remove([CacheKey(id)])) }

    /// Begins a chain of operations by removing all items. ``Operation/run()`` carries it out.
    @_disfavoredOverload
    public func removeAll() async throws -> Operation { Operation(store: self, .removeAll) }
}
