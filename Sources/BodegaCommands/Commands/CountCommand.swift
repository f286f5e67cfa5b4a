#if CommandLineTool
import ArgumentParser
import Bodega

/// `bodega count`.
struct CountCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Print the number of items.",
        discussion: """
            If the file or database has other collections, a note on standard error names them.

            With --json an object is printed: {"count"}.

            EXAMPLES:
              bodega count notes.db
              bodega count notes.db --collection drafts --json
            """)

    @OptionGroup var store: StoreOptions

    @Flag(help: "Print a JSON object.")
    var json = false

    func run(on console: Console) async throws {
        let (count, failure) = try await store.read(on: console) { store in
            // With a named collection, a note about others is not needed.
            if store.address.collection == nil { try await store.noteOtherCollections("counted", on: console) }
            let count = try await store.engine.fetchCount()
            return (count, try await store.hiddenKeys("Their items were counted."))
        }
        try console.print(count: count, asJSON: json)
        if let failure { throw failure }
    }
}
#endif
