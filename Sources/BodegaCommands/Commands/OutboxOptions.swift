#if CommandLineTool
import ArgumentParser
import Bodega
import BodegaSync

/// The file whose outbox a command works on.
struct OutboxOptions: ParsableArguments {
    @Argument(help: "The SQLite file: sqlite:PATH or a path, with or without #COLLECTION.", completion: .file())
    var local: String

    @Option(help: ArgumentHelp("Only what concerns this collection.", valueName: "name"))
    var collection: String?

    @OptionGroup var reporting: ReportingOptions

    /// Opens the outbox of an existing file, reads it and closes it. No file is created or changed.
    ///
    /// - Parameter body: Reads it. It gets the name of the collection, if one is named.
    func read(on console: Console, _ body: (LocalOutbox, String?) async throws -> Void) async throws {
        let address = try checkedAddress()
        try await StorageAddress.sqlite(address.path).openToRead().use { store in
            guard let outbox = try await store.outbox() else {
                return console.complain("note: \(address) has no outbox: it was never synchronized.")
            }
            try await body(outbox, address.collection)
        }
    }

    /// Opens the outbox of an existing file, changes it and closes it.
    func change(_ body: (LocalOutbox, String?) async throws -> Void) async throws {
        let address = try checkedAddress()
        try await StorageAddress.sqlite(address.path).openExisting().use { store in
            guard let outbox = try await store.outbox() else {
                throw ToolError(.failure, "\(address) has no outbox: it was never synchronized.")
            }
            try await body(outbox, address.collection)
        }
    }

    private func checkedAddress() throws -> StorageAddress {
        let address = try StorageAddress(argument: local, collection: collection)
        if address.engine == .sqlite { return address }
        throw ToolError(.usage, "\(address) is no SQLite file. Only those have an outbox.")
    }
}

extension LocalOutbox {
    /// The changes of a collection, or of all.
    func fetchPending(in collection: String?) async throws -> [PendingChange] {
        try await fetchPending().filter { collection == nil || $0.collection == collection }
    }
}
#endif
