/// The loading state of a ``Store`` or a ``LiveQuery``.
public enum StoreState: Sendable {
    /// The store is reading its items. Operations wait until it has finished.
    case loading

    /// The items are loaded. ``Store/items`` has the decodable ones, and ``Store/undecodable`` reports the others.
    case loaded

    /// The items could not be read. Operations throw `StorageError.Code.storeNotLoaded`, and the stored records stay as
    /// they are. ``Store/reload()`` retries.
    case failed(any Error)

    /// Whether the items are loaded.
    public var isLoaded: Bool {
        if case .loaded = self { true } else { false }
    }

    /// The error that made loading fail, or `nil` in other states.
    public var error: (any Error)? {
        if case .failed(let error) = self { error } else { nil }
    }
}
