#if CommandLineTool
import ArgumentParser
import Bodega

/// `bodega ls`.
struct ListCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the keys, in the order in which they were first written.",
        discussion: """
            On a terminal, control characters in keys are escaped; elsewhere keys are printed unchanged. Keys may \
            contain line ends: use -0 or --json where that matters. Sizes are in bytes, times in UTC.

            Keys can be passed to get and rm unchanged, after --.

            With --json each line is an object: {"key", "kind"} and, with --long, "size", "createdAt" and "updatedAt".

            EXAMPLES:
              bodega ls notes.db --limit 10
              bodega ls notes.db --long
              bodega ls -0 notes.db | xargs -0 bodega get notes.db --
              bodega ls -0 disk:site --prefix img/ | xargs -0 bodega rm disk:site --
              bodega ls notes.db --json --long | jq 'select(.size > 1000).key'
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    @Flag(name: .shortAndLong, help: "Show size, dates and kind, too.")
    var long = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(name: [.customShort("0"), .long], help: "End each key with a NUL instead of a line end.")
    var null = false

    // Keys and numbers may begin with a hyphen.
    @Option(
        parsing: .unconditional, help: ArgumentHelp("List only keys that begin with this text.", valueName: "text"))
    var prefix: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("The maximum number of keys to list.", valueName: "count"))
    var limit: Int?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative.") }
        if null, json || long { throw ValidationError("--null excludes --json and --long.") }
    }

    func run(on console: Console) async throws {
        try await store.read(on: console) { try await list($0, on: output.applied(to: console)) }
    }

    private func list(_ store: OpenStore, on console: Console) async throws {
        let engine = store.engine
        var keys = try await engine.fetchKeys()
        let failure = store.hiddenKeys(among: keys, "They are listed as they are stored.")
        // Compared byte by byte, as keys are.
        if let prefix { keys = keys.filter { $0.rawValue.utf8.starts(with: prefix.utf8) } }
        if let limit { keys = Array(keys.prefix(limit)) }
        let format = ItemLine(isJSON: json, ending: null ? "\0" : "\n", isEscaping: console.isOutputTerminal && !null)
        let unreadable = UnreadableItems()
        var output = BufferedOutput(console.output)
        if long {
            if console.isOutputTerminal, !json { try output.write(console.styled(ItemLine.header, .bold) + "\n") }
            for try await batch in ItemBatches(of: keys, [.data, .dates], in: engine, unreadable: unreadable) {
                for item in batch {
                    guard let dates = item.dates else { continue }
                    try output.write(format.line(key: item.key, size: item.data.count, dates: dates))
                }
            }
        } else {
            for key in keys { try output.write(format.line(key: key)) }
        }
        try output.flush()
        let messages = [unreadable.error("could not be measured"), failure].compactMap { $0?.message }
        if !messages.isEmpty { throw ToolError(.failure, messages.joined(separator: "\nbodega: ")) }
    }
}
#endif
