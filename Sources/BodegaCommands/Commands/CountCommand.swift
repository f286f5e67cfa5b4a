#if CommandLineTool
import ArgumentParser
import Bodega

/// `bodega count`.
struct CountCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Print the number of items.",
        discussion: """
            With --json an object is printed: {"count"}.

            EXAMPLES:
              bodega count notes.db
              bodega count notes.db --collection drafts --json
            """
    )

    @OptionGroup var store: StoreOptions

    @Flag(help: "Print a JSON object.")
    var json = false

    func run(on console: Console) async throws {
        let count = try await store.read { try await $0.engine.fetchCount() }
        guard json else { return try console.output.write("\(count)\n") }
        var object = JSONObjectWriter()
        object.add("count", count)
        try object.line().withUnsafeBytes(console.output.write)
    }
}
#endif
