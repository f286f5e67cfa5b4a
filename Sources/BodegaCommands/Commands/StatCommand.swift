#if CommandLineTool
import ArgumentParser
import Bodega

/// `bodega stat`.
struct StatCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "stat",
        abstract: "Tell about a store: engine, items, sizes, dates.",
        discussion: """
            Every item is read to measure it. With --check an SQLite file is examined too, and the exit status is 1 if \
            something is wrong with it.

            EXAMPLES:
              bodega stat notes.db
              bodega stat notes.db --check
              bodega stat notes.db --json | jq .bytes
            """
    )

    @OptionGroup var store: StoreOptions

    @Flag(help: "Examine the whole SQLite file for damage.")
    var check = false

    @Flag(help: "Print a JSON object.")
    var json = false

    func run(on console: Console) async throws {
        if check, try store.checkedAddress().engine != .sqlite {
            throw ToolError(.usage, "--check is for SQLite files.")
        }
        try await store.useExisting { try await tell(of: $0, on: console) }
    }

    private func tell(of store: OpenStore, on console: Console) async throws {
        var statistics = try await StoreStatistics(of: store)
        if check { statistics.problems = try await store.sqlite?.integrityCheck() }
        if json {
            try statistics.json().withUnsafeBytes(console.output.write)
        } else {
            try console.output.write(statistics.text(isEscaping: console.isOutputTerminal))
        }
        if let problems = statistics.problems, !problems.isEmpty {
            throw ToolError(.failure, "The file is damaged: restore it from a backup, or export what can be read.")
        }
    }
}
#endif
