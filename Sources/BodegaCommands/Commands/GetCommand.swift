#if CommandLineTool
import ArgumentParser
import Bodega
import Foundation

/// `bodega get`.
struct GetCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print items, byte for byte.",
        discussion: """
            Nothing is printed before, between or after items. Missing items are reported after the others are \
            printed, with exit status 3. Write keys of every kind as ls prints them; --verbatim or --url are only \
            needed where items of several kinds have the same key.

            With --json each line is an object: {"key", "kind" if it is not hashed} and the bytes under "json", "text" \
            or "base64", as in an export.

            EXAMPLES:
              bodega get notes.db today
              bodega get disk:site index.html > index.html
              bodega get notes.db --json today tomorrow
              bodega get notes.db -- -5
            """)

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
        try await store.read(on: console) { try await print(keys.keys(key, in: $0), from: $0, on: console) }
    }

    private func print(_ wanted: [CacheKey], from store: OpenStore, on console: Console) async throws {
        var output = BufferedOutput(console.output)
        var found: Set<CacheKey> = []
        var encrypted = 0
        let unreadable = UnreadableItems()
        func find(_ key: CacheKey, _ beginning: Data) {
            found.insert(key)
            if store.encryption == nil, EncryptedItem.hasForm(beginning) { encrypted += 1 }
        }
        if json {
            for try await batch in ItemBatches(of: wanted, in: store.engine, unreadable: unreadable) {
                for item in batch {
                    find(item.key, item.data)
                    try output.write(Envelope.line(key: item.key, data: item.data))
                }
            }
        } else {
            for key in wanted {
                var stream: StorageByteStream?
                do {
                    stream = try await store.engine.fetchStream(key: key)
                } catch let error as StorageError where error.key != nil && error.isOfKeyset {
                    unreadable.add(error)
                }
                guard var parts = stream?.makeAsyncIterator() else { continue }
                var part = try await parts.next()
                find(key, part ?? Data())
                while let bytes = part {
                    try output.write(bytes)
                    part = try await parts.next()
                }
            }
        }
        try output.flush()
        console.noteEncrypted(encrypted, "printed")
        found.formUnion(unreadable.all.compactMap(\.key))
        let missing = wanted.filter { !found.contains($0) }
        let failure = unreadable.error("could not be read")
        if missing.isEmpty {
            if let failure { throw failure }
            return
        }
        let absence = try await store.missing(missing)
        guard let failure else { throw absence }
        throw ToolError(.failure, "\(failure.message)\nbodega: \(absence.message)")
    }
}
#endif
