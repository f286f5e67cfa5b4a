extension StorageBackend {

    /// The database of the engine.
    ///
    /// - Throws: ``StorageError/Code/invalidArgument`` if it has none.
    func requiredDatabase() throws -> any StorageDatabase {
        if let database { return database }
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
