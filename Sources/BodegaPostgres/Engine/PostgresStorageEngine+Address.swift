#if Postgres
public import Bodega

extension PostgresStorageEngine {

    /// The collection of an address that names none.
    public static let unnamedCollection = "default"

    /// Connects to the database that an address names.
    ///
    /// ```swift
    /// let address = try StorageAddress(parsing: "postgres://app@db.example.com/notes#drafts")
    /// let engine = try await PostgresStorageEngine(address)
    /// ```
    ///
    /// - Parameters:
    ///   - address: The address. One without a collection means ``unnamedCollection``.
    ///   - options: How the database is used.
    /// - Throws: A ``StorageError``: ``StorageError/Code/invalidArgument`` if the address is of another engine, else like
    ///   ``init(connecting:collection:options:now:)``.
    public convenience init(
        _ address: StorageAddress,
        options: PostgresDatabase.Options = PostgresDatabase.Options()
    ) async throws {
        guard let url = address.connectionURL else {
            throw StorageError(
                .invalidArgument, "\(address) is no PostgreSQL database. Open it with StorageAddress.open().")
        }
        try await self.init(
            connecting: url,
            collection: address.collection ?? Self.unnamedCollection,
            options: options
        )
    }
}
#endif
