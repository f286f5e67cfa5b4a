import Bodega

extension Store {

    /// Performs operations on this store and another one of the same database as one atomic operation.
    ///
    /// ```swift
    /// try await drafts.transaction(with: notes) { drafts, notes in
    ///     guard let draft = drafts["milk"] else { return }
    ///     notes.insert(draft)
    ///     drafts.remove(draft)
    /// }
    /// ```
    ///
    /// - The stores are on collections of one database: those of one `SQLiteStorageEngine`, of one PostgreSQL database,
    ///   or of one `MemoryStorageEngine`, each with or without wrappers.
    /// - What the closure reads is the state in which it writes. If another process or store has changed any item of
    ///   these collections in the meantime, the stores show that, and the closure runs again.
    /// - All changes are written together, or none: also if the process is killed.
    /// - All stores and live queries of the database, in this process, show them in one step: an observer of any of
    ///   them finds all changes in all of them, or none. Other processes do the same.
    ///
    /// - Parameters:
    ///   - other: The other store.
    ///   - body: A closure that reads and changes the items of both stores. It must not change anything else, because
    ///     it may run more than once.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`; a `StorageError` if an item could not be encoded or the changes could not be
    ///   written, after which nothing has changed; `StorageError.Code.invalidArgument` if the stores are not in one
    ///   database; or `StorageError.Code.conflict` if others have changed the collections in each of 1,000 attempts.
    @discardableResult
    public func transaction<Other: StorableItem, Result: Sendable>(
        with other: Store<Other>,
        _ body:
            @escaping @MainActor (
                _ own: inout StoreTransaction<Item>, _ other: inout StoreTransaction<Other>
            ) throws -> Result
    ) async throws -> Result {
        let (own, part) = (TransactionPart(self), TransactionPart(other))
        return try await performTransaction([own, part]) { try body(&own.transaction, &part.transaction) }
    }

    /// Performs operations on this store and two others as one atomic operation; see
    /// ``transaction(with:_:)``.
    ///
    /// - Parameters:
    ///   - first: Another store of the same database.
    ///   - second: A third one.
    ///   - body: A closure that reads and changes the items of the stores, in this order. It may run more than once.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, or a `StorageError`. In both cases nothing has changed.
    @discardableResult
    public func transaction<First: StorableItem, Second: StorableItem, Result: Sendable>(
        with first: Store<First>, _ second: Store<Second>,
        _ body:
            @escaping @MainActor (
                _ own: inout StoreTransaction<Item>, _ first: inout StoreTransaction<First>,
                _ second: inout StoreTransaction<Second>
            ) throws -> Result
    ) async throws -> Result {
        let (own, first, second) = (TransactionPart(self), TransactionPart(first), TransactionPart(second))
        return try await performTransaction([own, first, second]) {
            try body(&own.transaction, &first.transaction, &second.transaction)
        }
    }

    /// Performs operations on this store and three others as one atomic operation; see
    /// ``transaction(with:_:)``.
    ///
    /// - Parameters:
    ///   - first: Another store of the same database.
    ///   - second: A third one.
    ///   - third: A fourth one.
    ///   - body: A closure that reads and changes the items of the stores, in this order. It may run more than once.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, or a `StorageError`. In both cases nothing has changed.
    @discardableResult
    public func transaction<First: StorableItem, Second: StorableItem, Third: StorableItem, Result: Sendable>(
        with first: Store<First>, _ second: Store<Second>, _ third: Store<Third>,
        _ body:
            @escaping @MainActor (
                _ own: inout StoreTransaction<Item>, _ first: inout StoreTransaction<First>,
                _ second: inout StoreTransaction<Second>, _ third: inout StoreTransaction<Third>
            ) throws -> Result
    ) async throws -> Result {
        let (own, first) = (TransactionPart(self), TransactionPart(first))
        let (second, third) = (TransactionPart(second), TransactionPart(third))
        return try await performTransaction([own, first, second, third]) {
            try body(&own.transaction, &first.transaction, &second.transaction, &third.transaction)
        }
    }
}
