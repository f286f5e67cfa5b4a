#if CommandLineTool
import ArgumentParser
import Bodega

/// The store that a command works on.
struct StoreOptions: ParsableArguments {
    @Argument(
        help:
            "The store: sqlite:PATH, disk:PATH, postgres://…, https://…, with #COLLECTION, or a path.",
        completion: .file())
    var store: String

    @Option(help: ArgumentHelp("The collection in an SQLite file, a database or a server.", valueName: "name"))
    var collection: String?

    @OptionGroup var keyset: KeysetOptions
    @OptionGroup var token: TokenOptions
    @OptionGroup var reporting: ReportingOptions

    /// Opens an existing store, reads it and closes it. No file is created or changed.
    func read<Result>(on console: Console, _ body: (OpenStore) async throws -> Result) async throws -> Result {
        try await opened(on: console) { try await $0.openToRead(token: $1) }.use(body)
    }

    /// Opens an existing store, uses it and closes it.
    func useExisting<Result>(on console: Console, _ body: (OpenStore) async throws -> Result) async throws -> Result {
        try await opened(on: console) { try await $0.openExisting(token: $1) }.use(body)
    }

    /// Opens an existing store for a server, uses it and closes it.
    func useToServe<Result>(on console: Console, _ body: (OpenStore) async throws -> Result) async throws -> Result {
        try await opened(on: console) { address, _ in try await address.openToServe() }.use(body)
    }

    /// Opens or creates a store, uses it and closes it. If it is encrypted in another way, nothing is written.
    ///
    /// - Parameter isUnchecked: Whether items are written in clear text even if others seem to be encrypted.
    func use<Result>(
        on console: Console, isUnchecked: Bool, _ body: (OpenStore) async throws -> Result
    ) async throws -> Result {
        try await opened(on: console, mustExist: false) { try await $0.openOrCreate(token: $1) }.use { store in
            if store.encryption != nil || !isUnchecked { try await store.checkEncryption() }
            return try await body(store)
        }
    }

    private func opened(
        on console: Console, mustExist: Bool = true, _ open: (StorageAddress, ServerToken?) async throws -> OpenStore
    ) async throws -> OpenStore {
        let address = try checkedAddress(mustExist: mustExist)
        let encryption = try keyset.encryption(console.environment)
        let token = try token.token(for: address, console.environment)
        return try await open(address, token).decrypting(with: encryption)
    }

    /// The store's address, after checking it against the other options.
    ///
    /// - Parameter mustExist: Whether the store must exist.
    func checkedAddress(mustExist: Bool = true) throws -> StorageAddress {
        try StorageAddress(argument: store, collection: collection, mustExist: mustExist)
    }
}
#endif
