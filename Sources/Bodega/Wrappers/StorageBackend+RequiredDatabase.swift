extension StorageBackend {

    /// The database in which a batch of the engine can be a part of a group; `nil` if there is none.
    package var groupDatabase: (any StorageDatabase)? {
        // One with a scope hides its database from those who read logs and items from one moment.
        database ?? (self as? ScopedStorageEngine)?.base.groupDatabase
    }

    /// Runs a closure whose reads of items are of one moment, if the engine has a database.
    package func atOneMoment(_ body: @Sendable () async throws -> Void) async throws {
        if let groupDatabase { try await groupDatabase.atOneMoment(body) } else { try await body() }
    }

    /// The database in which a batch of the engine can be a part of a group.
    ///
    /// - Throws: ``StorageError/Code/invalidArgument`` if it has none.
    func requiredDatabase() throws -> any StorageDatabase {
        if let groupDatabase { return groupDatabase }
        var (engine, next) = (self as any StorageBackend, base(of: self))
        // The innermost one that has none: a wrapper that hides it, or an engine.
        while let base = next, base.database == nil { (engine, next) = (base, self.base(of: base)) }
        throw StorageError(
            .invalidArgument, "\(type(of: engine)) can't take part in a transaction over several collections.")
    }

    private func base(of engine: any StorageBackend) -> (any StorageBackend)? {
        (engine as? any ForwardingStorageEngine)?.base ?? (engine as? any TransformingStorageEngine)?.base
    }
}
