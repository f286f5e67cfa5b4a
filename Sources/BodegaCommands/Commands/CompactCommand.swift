#if CommandLineTool
import ArgumentParser
import Bodega

/// `bodega compact`.
struct CompactCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Free unused space in an SQLite file, or clean up a folder.",
        discussion: """
            An SQLite file is rewritten, with all its collections, without the space of removed items. That needs \
            about as much free space as the size of the file, and other writers wait. If other programs are reading, \
            the file shrinks later. The incomplete copies that interrupted backups have left in the folder of the file \
            are removed, unless a backup into the folder is running. In a folder of items, the remains of interrupted \
            writes are removed. A PostgreSQL server frees space itself. The store of another server is compacted on \
            its machine.

            With --json an object is printed: {"before", "after"}, the sizes of the store's files in bytes.

            EXAMPLES:
              bodega compact notes.db
              bodega compact disk:notes --json
            """)

    @OptionGroup var store: StoreOptions

    @Flag(help: "Print a JSON object.")
    var json = false

    func run(on console: Console) async throws {
        let address = try store.checkedAddress()
        if address.engine == .postgres {
            throw ToolError(
                .usage,
                "compact is for files and folders. A PostgreSQL server frees space itself; see VACUUM in its manual.")
        }
        if address.engine == .server {
            throw ToolError(.usage, "compact is for files and folders. Compact the server's store on its machine.")
        }
        // Measured while the store is closed: an open SQLite file also has a write-ahead log and its index.
        let before = try StoreStatistics.sizeOfFiles(at: address)
        try await store.useExisting(on: console) { store in
            store.finishBatch(beforeEndingBy: console.interruption)
            if let sqlite = store.sqlite {
                try await sqlite.vacuum()
                let count = try await sqlite.removeLeftovers()
                if count > 0 {
                    console.complain("note: removed \(Counted.text(count, "file")) of interrupted backups.")
                }
            }
            if let disk = store.base as? DiskStorageEngine { try await disk.removeLeftovers() }
        }
        let after = try StoreStatistics.sizeOfFiles(at: address)
        if json {
            try console.print(["before": before, "after": after])
        } else {
            try console.output.write("\(Counted.text(before, "byte")) before, \(after) after\n")
        }
    }
}
#endif
