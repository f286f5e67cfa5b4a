#if CommandLineTool
import ArgumentParser

/// `bodega export`.
struct ExportCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all items as lines of JSON that import reads back, byte for byte.",
        discussion: """
            The first line says what it is. Each other line holds an item's key and, for keys that are not ordinary, its \
            kind; and its bytes under "json" if they are JSON on one line, else under "text" if they are UTF-8, else \
            under "base64". Dates are not exported.

            EXAMPLES:
              bodega export notes.db --output notes.ndjson
              bodega export notes.db | gzip > notes.ndjson.gz
              bodega export notes.db | bodega import disk:notes
              bodega export notes.db | jq -r 'select(.json.draft) | .key'
            """
    )

    @OptionGroup var store: StoreOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "A file, which is replaced when all is written; otherwise standard output.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    func run(on console: Console) async throws {
        try await store.read { store in
            let exporter = Exporter(engine: store.engine)
            guard let output, output != "-" else {
                try await exporter.run(to: console.output)
                return
            }
            // The file that is not complete is removed before the command ends.
            console.interruption.listen()
            let file = try OutputFile(path: output)
            try await exporter.run(to: file, interruption: console.interruption)
            try file.commit()
        }
    }
}
#endif
