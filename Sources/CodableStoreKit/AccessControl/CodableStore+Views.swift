extension CodableStore {

    /// The same as ``writeable``.
    public var writable: AnyWriteableCodableStore<Object> { writeable }
}
