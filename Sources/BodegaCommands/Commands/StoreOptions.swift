#if CommandLineTool
import ArgumentParser
import Bodega

/// The store that a command works on.
struct StoreOptions: ParsableArguments {
    @Argument(
        help: "The store: sqlite:PATH, disk:PATH, postgres://…, with #COLLECTION, or a path that tells by itself.",
        completion: .file())
    var store: String

    @Option(help: ArgumentHelp("The collection in an SQLite file or a database.", valueName: "name"))
    var collection: String?

    @OptionGroup var reporting: ReportingOptions

    /// Opens a store that must be there, reads it and closes it. Nothing is created or changed.
    func read<Result>(_ body: (OpenStore) async throws -> Result) async throws -> Result {
        try await checkedAddress().openToRead().use(body)
    }

    /// Opens a store that must be there, uses it and closes it.
    func useExisting<Result>(_ body: (OpenStore) async throws -> Result) async throws -> Result {
        try await checkedAddress().openExisting().use(body)
    }

    /// Opens a store, or creates it, uses it and closes it.
    func use<Result>(_ body: (OpenStore) async throws -> Result) async throws -> Result {
        try await checkedAddress().openOrCreate().use(body)
    }

    /// The store's address, if it goes together with the other options.
    func checkedAddress() throws -> StorageAddress {
        try StorageAddress(argument: store, collection: collection)
    }
}
#endif
