extension CodableStore {

    /// Runs a closure in a transaction: everything that it changes in stores of this store's location, of any types and
    /// containers, is changed together, or not at all.
    ///
    /// ```swift
    /// try drafts.transaction {
    ///     let draft = try drafts.get(identifier: id)
    ///     try articles.save(Article(draft))
    ///     try drafts.delete(draft)
    /// }
    /// ```
    ///
    /// - The operations in the closure are those of any store, such as ``save(_:)-(Object)`` and ``get(where:)``, and
    ///   of a ``CodableStoreable`` type. They find what the closure has changed before. Other threads and processes
    ///   find it after the transaction, and change nothing in the location in the meantime.
    /// - If the closure throws, nothing is changed. An error that it catches undoes only the operation that threw it.
    ///   The array forms of the operations do not throw: throw the ``CodableStore/Result/error`` of a result to undo
    ///   everything.
    /// - The changes are as durable as those of single saves. After the commit, and before this returns, the observers
    ///   are called, those of each collection in the order of its changes.
    /// - A transaction in the closure is a part of this one. If it throws and the closure catches the error, only its
    ///   own changes are undone.
    /// - The closure can read stores of other locations, but an operation that changes them throws a `StorageError`
    ///   with the code `invalidArgument`, and so does each operation of a custom engine.
    ///
    /// Other writers wait, those of this process for as long as it takes, so the closure should be short. It runs once,
    /// on the calling thread, and only operations of that thread take part. Don't let it wait for a thread or a task
    /// that uses the location, which may be waiting for the end of the transaction.
    ///
    /// - Parameter body: Reads and changes objects.
    /// - Returns: The closure's result.
    /// - Throws: The closure's error, or a ``/Bodega/StorageError``. Nothing is changed then. The code is
    ///   ``/Bodega/StorageError/Code/invalidArgument`` if the engine has no transactions, which is the case for folders
    ///   of files and custom engines, and ``/Bodega/StorageError/Code/suspended`` if a suspension of the storage has
    ///   begun.
    @discardableResult
    public func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try collection().transaction(body)
    }
}
