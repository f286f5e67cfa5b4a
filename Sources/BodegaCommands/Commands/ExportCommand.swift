#if CommandLineTool
import ArgumentParser

/// `bodega export`.
struct ExportCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all items as lines of JSON that import reads back, byte for byte.",
        discussion: """
            The first line identifies the export. Each other line holds an item's key, its kind unless it is hashed, \
            and its bytes under "json" if they are JSON on one line, else under "text" if they are UTF-8, else under \
            "base64". Dates are not exported.

            If an item can't be decrypted, the others are exported, its key is listed, and the exit status is 1; a \
            file is not replaced then. Without a keyset, encrypted items are exported in their encrypted form.

            EXAMPLES:
              bodega export notes.db --output notes.ndjson
              bodega export notes.db | gzip > notes.ndjson.gz
              bodega export notes.db | bodega import disk:notes
              bodega export notes.db | jq -r 'select(.json.draft) | .key'
            """)

    @OptionGroup var store: StoreOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write, replaced when the export is complete; standard output if left out.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    func run(on console: Console) async throws {
        try await store.read(on: console) { store in
            let exporter = Exporter(engine: store.engine, isEncrypted: store.encryption != nil)
            guard let output, output != "-" else {
                console.noteEncrypted(try await exporter.run(to: console.output).encrypted, "exported")
                return
            }
            try store.address.checkDoesNotContain(fileAt: output)
            // On a signal, the incomplete file is removed before the command ends.
            console.interruption.listen()
            let file = try OutputFile(path: output)
            let result = try await exporter.run(to: file, interruption: console.interruption)
            try file.commit()
            console.noteEncrypted(result.encrypted, "exported")
        }
    }
}
#endif
