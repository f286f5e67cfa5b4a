#if CommandLineTool
import ArgumentParser
import Bodega
import Foundation

/// `bodega backup`.
struct BackupCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a snapshot of an SQLite file, with all collections.",
        discussion: """
            Other programs can read and write during the backup without waiting, except that writers to a file of \
            Bodega 2 that is not in WAL mode wait until it is copied. The copy is made under another name, examined, \
            and renamed when it is complete. It has no unused space, so it may be smaller than the file. Ctrl-C and \
            SIGTERM end the backup and remove the incomplete copy. If the process is killed, the copy stays under a \
            name that begins with .emporium-backup-, until the next backup into the folder, or until compact is used \
            on a file in it.

            A folder has no snapshots; use copy for it. For a PostgreSQL database, use pg_dump.

            With --json an object is printed: {"path", "bytes"}.

            EXAMPLES:
              bodega backup notes.db backups/notes.db
              bodega backup notes.db latest.db --force
            """)

    @Argument(help: "The store: sqlite:PATH, or the path of an SQLite file.", completion: .file())
    var store: String

    @Argument(help: "The path of the backup.", completion: .file())
    var file: String

    @Flag(help: "Replace an existing file when the copy is complete.")
    var force = false

    @Flag(help: "Print a JSON object.")
    var json = false

    @Flag(help: "Print no result.")
    var quiet = false

    @OptionGroup var reporting: ReportingOptions

    func validate() throws {
        if file.isEmpty { throw ValidationError("The path of the backup is empty. Name a file.") }
        if json, quiet { throw ValidationError("--json and --quiet exclude each other.") }
    }

    func run(on console: Console) async throws {
        let address = try StorageAddress(argument: store)
        if address.engine == .postgres {
            throw ToolError(
                .usage, "backup is for SQLite files. Back up a PostgreSQL database with: pg_dump --format=custom")
        }
        if address.engine == .server {
            throw ToolError(
                .usage,
                """
                backup is for SQLite files. Back up the server's store on its machine, or copy one collection with: \
                bodega copy \(address) sqlite:PATH
                """)
        }
        try address.checkIsNoDatabaseFolder()
        guard address.engine == .sqlite else {
            throw ToolError(.usage, "backup is for SQLite files. Copy a folder with: bodega copy \(address) disk:PATH")
        }
        guard address.collection == nil else {
            throw ToolError(.usage, "A backup holds all collections. Leave out the collection, or use copy for one.")
        }
        let destination = URL(fileURLWithPath: file)
        try address.checkDoesNotContain(fileAt: destination.path)
        console.interruption.listen()
        try await address.openToRead().use { [force] store in
            do {
                try await console.interruption.cancelling {
                    try await store.sqlite?.backup(to: destination, replacing: force)
                }
            } catch let error as StorageError where error.code == .invalidArgument {
                let advice = force ? "" : " Give --force to replace a file."
                throw ToolError(.failure, "\(error.file?.path ?? file): \(error.message)\(advice)")
            } catch let error as ToolError where error.status == console.interruption.status {
                throw ToolError(error.status, "\(error.message) No backup was made.")
            }
        }
        let size = try StoreStatistics.sizeOfFiles(at: .sqlite(destination.path))
        if json {
            try console.print(["path": file, "bytes": size])
        } else if !quiet {
            try console.output.write("\(Counted.text(size, "byte")) in \(console.shown(file))\n")
        }
    }
}
#endif
