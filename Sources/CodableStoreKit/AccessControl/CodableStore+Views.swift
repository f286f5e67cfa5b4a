extension CodableStore {

    /// The store, for reading only.
    public var readable: AnyReadableCodableStore<Object> { AnyReadableCodableStore(self) }

    /// The store, for writing only.
    public var writeable: AnyWriteableCodableStore<Object> { AnyWriteableCodableStore(self) }

    /// The store, for observing only.
    public var observable: AnyObserverableCodableStore<Object> { AnyObserverableCodableStore(self) }

    /// The store, for copying only.
    public var copyable: AnyCopyableCodableStore<Object> { AnyCopyableCodableStore(self) }

    /// The same as ``writeable``.
    public var writable: AnyWriteableCodableStore<Object> { writeable }
}
