#if CommandLineTool
import ArgumentParser
import Bodega

/// The store that a command works on.
struct StoreOptions: ParsableArguments {
    @Argument(
        help:
            "The store: sqlite:PATH, disk:PATH, postgres://…, with #COLLECTION, or the path of a store.",
        completion: .file())
    var store: String

    @Option(help: ArgumentHelp("The collection in an SQLite file or a database.", valueName: "name"))
    var collection: String?

    @OptionGroup var reporting: ReportingOptions

    /// Opens an existing store, reads it and closes it. No file is created or changed.
    func read<Result>(_ body: (OpenStore) async throws -> Result) async throws -> Result {
        try await checkedAddress().openToRead().use(body)
    }

    /// Opens an existing store, uses it and closes it.
    func useExisting<Result>(_ body: (OpenStore) async throws -> Result) async throws -> Result {
        try await checkedAddress().openExisting().use(body)
    }

    /// Opens or creates a store, uses it and closes it.
    func use<Result>(_ body: (OpenStore) async throws -> Result) async throws -> Result {
        try await checkedAddress().openOrCreate().use(body)
    }

    /// The store's address, after checking it against the other options.
    func checkedAddress() throws -> StorageAddress {
        try StorageAddress(argument: store, collection: collection)
    }
}
#endif
