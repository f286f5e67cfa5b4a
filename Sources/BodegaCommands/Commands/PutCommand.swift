#if CommandLineTool
import ArgumentParser
import Bodega
import Foundation

/// `bodega put`.
struct PutCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Write an item, replacing an existing one.",
        discussion: """
            The store is created if it is missing, unless it is on a server. When the command succeeds, the item \
            survives a power loss. Without a keyset, the input need not fit into memory: more than 1 MiB is first \
            copied into a temporary file, in the folder of the variable TMPDIR, by default /var/tmp. With a keyset it \
            must fit, and no clear text is written to disk.

            Nothing is written if the store's items seem to be encrypted and no keyset, or the wrong one, is given.

            With --json an object is printed: {"key", "kind", "bytes"}.

            EXAMPLES:
              bodega put notes.db today today.txt
              echo '{"done": false}' | bodega put notes.db today
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeyOptions

    @Argument(help: "The key. Write -- before it if it begins with a hyphen.")
    var key: String

    @Argument(help: "The file with the bytes; standard input if it is left out or -.", completion: .file())
    var file: String?

    @Flag(help: "Write in clear text, even if items of the store seem to be encrypted.")
    var unchecked = false

    @Flag(help: "Print a JSON object with the key and the size.")
    var json = false

    func run(on console: Console) async throws {
        let key = try keys.key(key)
        _ = try store.checkedAddress(mustExist: false)
        // The input is read before the store is opened, so that missing input leaves no empty store behind.
        let input = try await contents(on: console)
        try await store.use(on: console, isUnchecked: unchecked) { store in
            store.finishBatch(beforeEndingBy: console.interruption)
            try await store.engine.write(stream: input.stream, key: key)
        }
        if json {
            try console.print(["key": key.identity, "kind": key.kind.rawValue, "bytes": input.count])
        }
    }

    /// The input, if it is long in a temporary file, as it may be a pipe, or may change. Input to encrypt stays in
    /// memory.
    private func contents(on console: Console) async throws -> StreamedBytes {
        var source = console.input
        if let file, file != "-" { source = try DescriptorSource(path: file) }
        if store.keyset.isGiven(console.environment) {
            var data = Data()
            for try await part in source.stream { data.append(part) }
            return .data(data)
        }
        return try await StreamedBytes(of: source.stream)
    }
}
#endif
