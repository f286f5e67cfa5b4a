#if CommandLineTool
import ArgumentParser
import Bodega

/// `bodega stat`.
struct StatCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "stat",
        abstract: "Print the engine, items, sizes and dates of a store.",
        discussion: """
            Every item is read to measure it. With --check an SQLite file is examined first. Its problems are printed, \
            with the measurements if all items can be read, and the exit status is 1.

            With --json an object is printed: {"engine", "path" or "url", "collection" if one is named, "collections" \
            of an SQLite file or a database, "count", "bytes", "largest", "fileBytes" and "allocatedBytes" unless it \
            is a database, "oldest" and "newest" if there are items, "references" if programs have declared any, \
            "problems" with --check}. Sizes are in bytes. The space on disk, "allocatedBytes", is what the file system \
            has allocated for the store's files and folders, as du counts it.

            A reference is printed with the member, [] after that of a list, the collection that it names items of, \
            and what happens when one of them is removed: remove, clear, refuse or keep.

            Without a keyset, "encrypted" is the number of items that seem to be encrypted, if there are any; the \
            sizes are those of their encrypted form.

            EXAMPLES:
              bodega stat notes.db
              bodega stat notes.db --check
              bodega stat notes.db --json | jq .bytes
            """)

    @OptionGroup var store: StoreOptions

    @Flag(help: "Examine the whole SQLite file for damage.")
    var check = false

    @Flag(help: "Print a JSON object.")
    var json = false

    func run(on console: Console) async throws {
        if check, try store.checkedAddress().engine != .sqlite {
            throw ToolError(.usage, "--check is for SQLite files. Examine another store with: bodega verify STORE")
        }
        try await store.read(on: console) { try await describe($0, on: console) }
    }

    private func describe(_ store: OpenStore, on console: Console) async throws {
        var statistics = StoreStatistics(address: store.address)
        // Examined first, because measuring a damaged file may fail.
        if check { statistics.problems = try await store.sqlite?.integrityCheck() }
        let isDamaged = statistics.problems.map { !$0.isEmpty } ?? false
        var failure: StorageError?
        do {
            try await statistics.measure(store)
        } catch let error as StorageError where isDamaged {
            failure = error
        }
        if json {
            try statistics.json().withUnsafeBytes(console.output.write)
        } else {
            try console.output.write(statistics.text(isEscaping: console.isOutputTerminal))
        }
        if !isDamaged { try statistics.unreadable.check("could not be measured") }
        if isDamaged { throw Self.damage(failure.map(console.text)) }
        if store.address.collection == nil { try await store.noteOtherCollections("measured", on: console) }
        if store.address.engine == .server, store.address.collection == nil, statistics.count == 0 {
            console.complain("note: this is the collection without a name. Name another one with #NAME.")
        }
    }

    /// The error for a damaged file.
    ///
    /// - Parameter failure: The reason why not all items can be read, `nil` if they can.
    private static func damage(_ failure: String?) -> ToolError {
        let advice = """
            The file is damaged. Restore it from a backup. If there is none, keep an unchanged copy of it, and try the \
            command .recover of sqlite3, SQLite's own tool, as sqlite.org offers it. Those of some systems, such as \
            Debian, have no such command.
            """
        guard let failure else { return ToolError(.failure, advice) }
        return ToolError(.failure, "Not all items can be read: \(failure)\nbodega: \(advice)")
    }
}
#endif
