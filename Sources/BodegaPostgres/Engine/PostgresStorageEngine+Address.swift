#if Postgres
public import Bodega

extension PostgresStorageEngine {

    /// The collection of an address without a collection.
    public static let unnamedCollection = "default"

    /// Connects to the database at an address.
    ///
    /// ```swift
    /// let address = try StorageAddress(parsing: "postgres://app@db.example.com/notes#drafts")
    /// let engine = try await PostgresStorageEngine(address)
    /// ```
    ///
    /// - Parameters:
    ///   - address: The address. Without a collection, it refers to ``unnamedCollection``.
    ///   - options: The options of the database.
    /// - Throws: A ``/Bodega/StorageError``: ``/Bodega/StorageError/Code/invalidArgument`` if the address is that of
    ///   another engine, or an error of ``init(connecting:collection:options:now:)``.
    public convenience init(
        _ address: StorageAddress,
        options: PostgresDatabase.Options = PostgresDatabase.Options()
    ) async throws {
        guard let url = address.connectionURL else {
            throw StorageError(
                .invalidArgument, "\(address) is not a PostgreSQL database. Open it with StorageAddress.open().")
        }
        try await self.init(connecting: url, collection: address.collection ?? Self.unnamedCollection, options: options)
    }
}
#endif
