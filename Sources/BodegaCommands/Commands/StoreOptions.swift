#if CommandLineTool
import ArgumentParser

/// The store that a command works on.
struct StoreOptions: ParsableArguments {
    @Argument(help: "The store: sqlite:PATH, disk:PATH, or a path that tells by itself.")
    var store: String

    @Option(help: ArgumentHelp("The collection in an SQLite file.", valueName: "name"))
    var collection: String?

    /// Opens a store that must be there, uses it and closes it.
    func useExisting<Result>(_ body: (OpenStore) async throws -> Result) async throws -> Result {
        try await checkedAddress().openExisting(collection: collection).use(body)
    }

    /// Opens a store, or creates it, uses it and closes it.
    func use<Result>(_ body: (OpenStore) async throws -> Result) async throws -> Result {
        try await checkedAddress().open(collection: collection).use(body)
    }

    /// The store's address, if it goes together with the other options.
    func checkedAddress() throws -> StoreAddress {
        let address = try StoreAddress(parsing: store)
        if collection != nil, address.engine != .sqlite {
            throw ToolError(.usage, "--collection is for SQLite files; a folder is one collection.")
        }
        if collection == "" { throw ToolError(.usage, "A collection needs a name that is not empty.") }
        return address
    }
}
#endif
