#if CommandLineTool
import ArgumentParser
import Bodega
import Foundation

/// `bodega rm`.
struct RemoveCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove items.",
        discussion: """
            Missing items are reported after the others are removed, with exit status 3. Removing all items requires \
            --yes or a confirmation on a terminal, and is refused for a folder with files that are not recognized as \
            items.

            With --json an object is printed: {"removed"}, the number of items, even if other items are missing.

            EXAMPLES:
              bodega rm notes.db yesterday
              bodega rm notes.db --all --yes
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeyOptions

    @Argument(help: "The keys. Write -- before them if one begins with a hyphen.")
    var key: [String] = []

    @Flag(help: "Remove all items.")
    var all = false

    @Flag(name: [.short, .long, .customLong("force")], help: "Remove all items without a confirmation.")
    var yes = false

    @Flag(help: "Print a JSON object with the number of removed items.")
    var json = false

    func validate() throws {
        if all != key.isEmpty { throw ValidationError("Name the keys to remove, or give --all.") }
    }

    func run(on console: Console) async throws {
        try await store.useExisting(on: console) { store in
            if all {
                try await checkFiles(of: store)
                if !yes {
                    try await confirm(store, on: console)
                    // Another program may have added files in the meantime.
                    try await checkFiles(of: store)
                }
                store.finishBatch(beforeEndingBy: console.interruption)
                let count = json ? try await store.engine.fetchCount() : 0
                try await store.engine.removeAllData()
                if json { try console.print(["removed": count]) }
            } else {
                try await remove(keys.keys(key, in: store), from: store, console)
            }
        }
    }

    private func remove(_ wanted: [CacheKey], from store: OpenStore, _ console: Console) async throws {
        let present = try await store.engine.fetchKeys(among: wanted)
        store.finishBatch(beforeEndingBy: console.interruption)
        try await store.engine.remove(keys: present)
        if json { try console.print(["removed": present.count]) }
        let found = Set(present)
        let missing = wanted.filter { !found.contains($0) }
        if !missing.isEmpty { throw try await store.missing(missing) }
    }

    /// Checks that a folder contains only items.
    private func checkFiles(of store: OpenStore) async throws {
        guard let disk = store.base as? DiskStorageEngine else { return }
        let files = try await disk.unrecognizedFiles()
        guard let first = files.first else { return }
        let others = files.count == 1 ? "" : " and \(files.count - 1) more"
        let isUUID = UUID(uuidString: first) != nil
        let reason = isUUID ? " Other programs name files by such UUIDs; Bodega's names are upper-case hashes." : ""
        throw ToolError(
            .failure,
            """
            Nothing was removed: \(store.address.path) has files that are not recognized as items: \(first)\(others).\
            \(reason) \
            Move them to another folder, or remove single items with: bodega rm \(store.address) --verbatim KEY
            """)
    }

    private func confirm(_ store: OpenStore, on console: Console) async throws {
        guard console.canAsk else {
            throw ToolError(.usage, "--all removes every item. Give --yes to confirm.")
        }
        let count = try await store.engine.fetchCount()
        let address = TerminalText.escaped(store.address.description)
        let items = count == 1 ? "the only item" : "all \(count) items"
        guard try console.isConfirmed("Remove \(items) from \(address)?") else {
            throw ToolError(.failure, "Nothing was removed.")
        }
    }
}
#endif
