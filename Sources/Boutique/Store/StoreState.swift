/// Whether a ``Store`` has its items.
public enum StoreState: Sendable {
    /// The items are being read. Operations wait until that is done.
    case loading

    /// The items are there. What could be read is in ``Store/items``, what could not be decoded in
    /// ``Store/undecodable``.
    case loaded

    /// The items could not be read, so the store does not know what is stored and refuses to change it. Nothing is lost:
    /// ``Store/reload()`` tries again.
    case failed(any Error)

    /// Whether the items are there.
    public var isLoaded: Bool {
        if case .loaded = self { true } else { false }
    }

    /// Why the items could not be read, if that is so.
    public var error: (any Error)? {
        if case .failed(let error) = self { error } else { nil }
    }
}
