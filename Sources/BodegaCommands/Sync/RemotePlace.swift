import Bodega
import BodegaSync

/// The remote database of a synchronization. It is connected to when it is needed first, and again after a failure.
actor RemotePlace {
    private let address: StorageAddress
    private let token: ServerToken?
    private let mustExist: Bool
    private var onProgress: (@Sendable () -> Void)?
    private var store: OpenStore?

    /// - Parameter mustExist: Whether a missing SQLite file is an error, and not created.
    init(_ address: StorageAddress, token: ServerToken?, mustExist: Bool) {
        (self.address, self.token, self.mustExist) = (address, token, mustExist)
    }

    /// Notes what to call while much is sent or received.
    func notice(_ onProgress: @escaping @Sendable () -> Void) { self.onProgress = onProgress }

    /// The engine on a collection. All are of one database.
    func engine(_ collection: String) async throws -> any StorageBackend {
        if let store { return try await store.baseCollection(named: collection) }
        // A file gets the collection below; others are opened with one.
        let address = address.engine == .sqlite ? .sqlite(address.path) : address.withCollection(collection)
        let opened: OpenStore
        do {
            opened =
                try await mustExist && address.engine == .sqlite
                ? address.openExisting() : address.openOrCreate(token: token, onProgress: onProgress)
        } catch var error as StorageError {
            // The messages of the synchronization name the address.
            if error.message.hasSuffix(" \(address)") { error.message.removeLast("\(address)".count + 1) }
            throw error
        }
        if let store {
            try await opened.close()
            return try await store.baseCollection(named: collection)
        }
        if try await opened.outbox()?.fetchCollections().isEmpty == false {
            try await opened.close()
            throw ToolError(
                .usage,
                """
                \(self.address) is synchronized with another database itself, and would not pass changes on. Name that \
                database instead.
                """)
        }
        store = opened
        return try await opened.baseCollection(named: collection)
    }

    /// Closes the database.
    func close() async throws { try await store?.close() }
}
