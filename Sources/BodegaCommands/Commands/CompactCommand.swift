#if CommandLineTool
import ArgumentParser
import Bodega

/// `bodega compact`.
struct CompactCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Give back space: rewrite an SQLite file without gaps, tidy up a folder.",
        discussion: """
            An SQLite file is rewritten without the space that removed items left, with all its collections. That takes \
            about as much free space as the file is large, and other writers wait. While others read, the file itself \
            shrinks later. In a folder, what writes that were stopped have left is removed. A PostgreSQL server gives back space itself.

            With --json an object is printed: {"before", "after"}, the bytes of the files that make up the store.

            EXAMPLES:
              bodega compact notes.db
              bodega compact disk:notes --json
            """
    )

    @OptionGroup var store: StoreOptions

    @Flag(help: "Print a JSON object.")
    var json = false

    func run(on console: Console) async throws {
        let address = try store.checkedAddress()
        if address.engine == .postgres {
            throw ToolError(
                .usage,
                "compact is for files and folders. A PostgreSQL server does it itself; see VACUUM in its manual.")
        }
        // Before it is opened and after it is closed: in between, a log and its index are there as well.
        let before = try StoreStatistics.sizeOfFiles(at: address)
        try await store.useExisting { store in
            store.finishBatch(beforeEndingBy: console.interruption)
            if let sqlite = store.sqlite { try await sqlite.vacuum() }
            if let disk = store.engine as? DiskStorageEngine { try await disk.tidyUp() }
        }
        let after = try StoreStatistics.sizeOfFiles(at: address)
        if json {
            var object = JSONObjectWriter()
            object.add("before", before)
            object.add("after", after)
            try object.line().withUnsafeBytes(console.output.write)
        } else {
            try console.output.write("\(before) bytes before, \(after) after\n")
        }
    }
}
#endif
