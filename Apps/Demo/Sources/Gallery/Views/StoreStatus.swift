import Boutique

/// Why a page does not show all items of a store.
struct StoreStatus: Sendable {
    let isLoading: Bool
    let failure: String?
    /// The number of items that cannot be read; `nil` if there are none, so that a template can test it.
    let undecodable: Int?

    /// Whether the store has loaded.
    var isFine: Bool { !isLoading && failure == nil }

    /// Creates the status of a store.
    @MainActor
    init(_ store: Store<some StorableItem>) {
        undecodable = store.undecodable.isEmpty ? nil : store.undecodable.count
        (isLoading, failure) =
            switch store.state {
            case .loading: (true, nil)
            case .loaded: (false, nil)
            case .failed(let error): (false, (error as? StorageError)?.message ?? "\(error)")
            }
    }
}
