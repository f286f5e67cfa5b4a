import Bodega

extension Store {

    /// A chain of operations that ``run()`` performs as one atomic operation.
    ///
    /// ```swift
    /// try await store
    ///     .removeAll()
    ///     .insert(notes)
    ///     .run()
    /// ```
    ///
    /// A chain is a reference type: operations added through one reference are part of the chain for all of them.
    ///
    /// A chain that is released without having been run does nothing. The log reports this as an error, once for each
    /// place in the source where such a chain begins.
    @MainActor
    public final class Operation {
        private let store: Store
        private var steps: [StoreStep<Item>]
        private var hasRun = false
        /// Whether ``run()`` was called, also if it has failed.
        private var wasRun = false
        private let place: CallLocation

        fileprivate init(_ store: Store, _ step: StoreStep<Item>, at place: CallLocation) {
            self.store = store
            self.place = place
            steps = [step]
        }

        deinit {
            if !wasRun { UnrunOperations.report(place, itemType: Item.self, to: store.pipeline.records.logger) }
        }

        /// Performs the operations in order, as one batch and one change.
        ///
        /// A chain runs once. A second call waits until the first one has ended and performs nothing, even if
        /// operations have been added since. After a failure, the chain can be run again.
        ///
        /// - Throws: A `StorageError` if an item could not be encoded or the changes could not be written. In this case
        ///   nothing has changed.
        public func run() async throws {
            wasRun = true
            if hasRun { return try await store.pipeline.perform(.exclusive {}) }
            hasRun = true
            do {
                try await store.pipeline.perform(.steps(steps))
            } catch {
                hasRun = false
                throw error
            }
        }

        /// Adds the insertion of an item, which replaces the item with the same identifier.
        ///
        /// - Parameter item: The item.
        /// - Returns: The operation itself.
        public func insert(_ item: Item) async throws -> Operation { adding(.insert([item])) }

        /// Adds the insertion of items, which replace the items with the same identifiers.
        ///
        /// - Parameter items: The items. If several share an identifier, the last wins, in the place of the first.
        /// - Returns: The operation itself.
        public func insert(_ items: [Item]) async throws -> Operation { adding(.insert(items)) }

        /// Adds the insertion of an item. Equivalent to ``insert(_:)-(Item)``.
        ///
        /// - Parameter item: The item.
        /// - Returns: The operation itself.
        public func add(_ item: Item) async throws -> Operation { adding(.insert([item])) }

        /// Adds the insertion of items. Equivalent to ``insert(_:)-([Item])``.
        ///
        /// - Parameter items: The items.
        /// - Returns: The operation itself.
        public func add(_ items: [Item]) async throws -> Operation { adding(.insert(items)) }

        /// Adds the removal of an item, which need not exist.
        ///
        /// - Parameter item: The item. Only its identifier matters.
        /// - Returns: The operation itself.
        public func remove(_ item: Item) async throws -> Operation { adding(.removeItems([item])) }

        /// Adds the removal of items, which need not exist.
        ///
        /// - Parameter items: The items. Only their identifiers matter.
        /// - Returns: The operation itself.
        public func remove(_ items: [Item]) async throws -> Operation { adding(.removeItems(items)) }

        /// Adds the removal of an item, which need not exist.
        ///
        /// - Parameter id: The item's identifier.
        /// - Returns: The operation itself.
        public func remove(id: String) async throws -> Operation { adding(.remove([CacheKey(id)])) }

        /// Adds the removal of all items.
        ///
        /// - Returns: The operation itself.
        public func removeAll() async throws -> Operation { adding(.removeAll) }

        private func adding(_ step: StoreStep<Item>) -> Operation {
            steps.append(step)
            return self
        }
    }
}

// The first operation of a chain. These methods and those above are async and throw, as in Boutique. So a forgotten
// `await` is a compiler error, not a chain that never runs, and code for Boutique compiles without warnings. None of
// their results is discardable, as in Boutique, so that the compiler warns of a forgotten `run()`.
extension Store {

    /// Begins a chain of operations by inserting an item. ``Operation/run()`` performs it.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - fileID: The file of the call, for the log.
    ///   - line: The line of the call.
    @_disfavoredOverload
    public func insert(_ item: Item, fileID: StaticString = #fileID, line: UInt = #line) async throws -> Operation {
        Operation(self, .insert([item]), at: CallLocation(fileID: fileID, line: line))
    }

    /// Begins a chain of operations by inserting items. ``Operation/run()`` performs it.
    ///
    /// - Parameters:
    ///   - items: The items. If several have the same identifier, the last one wins, in the place of the first.
    ///   - fileID: The file of the call, for the log.
    ///   - line: The line of the call.
    @_disfavoredOverload
    public func insert(_ items: [Item], fileID: StaticString = #fileID, line: UInt = #line) async throws -> Operation {
        Operation(self, .insert(items), at: CallLocation(fileID: fileID, line: line))
    }

    /// Begins a chain of operations by inserting an item. ``Operation/run()`` performs it.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - fileID: The file of the call, for the log.
    ///   - line: The line of the call.
    @_disfavoredOverload
    public func add(_ item: Item, fileID: StaticString = #fileID, line: UInt = #line) async throws -> Operation {
        Operation(self, .insert([item]), at: CallLocation(fileID: fileID, line: line))
    }

    /// Begins a chain of operations by inserting items. ``Operation/run()`` performs it.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - fileID: The file of the call, for the log.
    ///   - line: The line of the call.
    @_disfavoredOverload
    public func add(_ items: [Item], fileID: StaticString = #fileID, line: UInt = #line) async throws -> Operation {
        Operation(self, .insert(items), at: CallLocation(fileID: fileID, line: line))
    }

    /// Begins a chain of operations by removing an item. ``Operation/run()`` performs it.
    ///
    /// - Parameters:
    ///   - item: The item. Only its identifier matters.
    ///   - fileID: The file of the call, for the log.
    ///   - line: The line of the call.
    @_disfavoredOverload
    public func remove(_ item: Item, fileID: StaticString = #fileID, line: UInt = #line) async throws -> Operation {
        Operation(self, .removeItems([item]), at: CallLocation(fileID: fileID, line: line))
    }

    /// Begins a chain of operations by removing items. ``Operation/run()`` performs it.
    ///
    /// - Parameters:
    ///   - items: The items. Only their identifiers matter.
    ///   - fileID: The file of the call, for the log.
    ///   - line: The line of the call.
    @_disfavoredOverload
    public func remove(_ items: [Item], fileID: StaticString = #fileID, line: UInt = #line) async throws -> Operation {
        Operation(self, .removeItems(items), at: CallLocation(fileID: fileID, line: line))
    }

    /// Begins a chain of operations by removing an item. ``Operation/run()`` performs it.
    ///
    /// - Parameters:
    ///   - id: The item's identifier.
    ///   - fileID: The file of the call, for the log.
    ///   - line: The line of the call.
    @_disfavoredOverload
    public func remove(id: String, fileID: StaticString = #fileID, line: UInt = #line) async throws -> Operation {
        Operation(self, .remove([CacheKey(id)]), at: CallLocation(fileID: fileID, line: line))
    }

    /// Begins a chain of operations by removing all items. ``Operation/run()`` performs it.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for the log.
    ///   - line: The line of the call.
    @_disfavoredOverload
    public func removeAll(fileID: StaticString = #fileID, line: UInt = #line) async throws -> Operation {
        Operation(self, .removeAll, at: CallLocation(fileID: fileID, line: line))
    }
}
