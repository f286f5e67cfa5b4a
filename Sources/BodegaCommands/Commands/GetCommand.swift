#if CommandLineTool
import ArgumentParser
import Bodega

/// `bodega get`.
struct GetCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print items, byte for byte.",
        discussion: """
            Nothing is added, also not between several items. Items that are missing are reported after the others are \
            printed, with exit status 3.

            With --json each line is an object: {"key", "kind" if it is not hashed} and the bytes under "json", "text" or \
            "base64", as export has them.

            EXAMPLES:
              bodega get notes.db today
              bodega get disk:site --verbatim index.html > index.html
              bodega get notes.db --json today tomorrow
              bodega get notes.db -- -5
            """
    )

    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeyOptions

    @Argument(help: "The keys. Write -- before them if one begins with a hyphen.")
    var key: [String]

    @Flag(help: "Print each item as a JSON object on a line, with its key, as export does.")
    var json = false

    func validate() throws {
        if key.isEmpty { throw ValidationError("Name at least one key.") }
    }

    func run(on console: Console) async throws {
        let wanted = try key.map(keys.key)
        try await store.read { try await print(wanted, from: $0, on: console) }
    }

    private func print(_ wanted: [CacheKey], from store: OpenStore, on console: Console) async throws {
        var output = BufferedOutput(console.output)
        var missing: [CacheKey] = []
        for key in wanted {
            guard let data = try await store.engine.fetch(key: key) else {
                missing.append(key)
                continue
            }
            if json {
                try output.write(Envelope.line(key: key, data: data))
            } else {
                try output.write(data)
            }
        }
        try output.flush()
        if !missing.isEmpty { throw try await store.missing(missing) }
    }
}
#endif
