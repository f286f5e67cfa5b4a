#if CommandLineTool
import ArgumentParser
import Bodega
import Foundation

/// `bodega put`.
struct PutCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Write an item, replacing what is there under its key.",
        discussion: """
            The store is created if it is missing. When the command succeeds, the item survives a power loss.

            With --json an object is printed: {"key", "kind", "bytes"}.

            EXAMPLES:
              bodega put notes.db today today.txt
              echo '{"done": false}' | bodega put notes.db today
            """
    )

    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeyOptions

    @Argument(help: "The key. Write -- before it if it begins with a hyphen.")
    var key: String

    @Argument(help: "The file with the bytes; standard input if left out or -.", completion: .file())
    var file: String?

    @Flag(help: "Print a JSON object that says what was written.")
    var json = false

    func run(on console: Console) async throws {
        let key = try keys.key(key)
        _ = try store.checkedAddress()
        // Read to the end before the store is opened: no input, no store.
        let data = try Self.contents(of: file, standardInput: console.input)
        try await store.use { store in
            store.finishBatch(beforeEndingBy: console.interruption)
            try await store.engine.write(data, key: key)
        }
        guard json else { return }
        var object = JSONObjectWriter()
        object.add("key", key.identity)
        object.add("kind", key.kind.rawValue)
        object.add("bytes", data.count)
        try object.line().withUnsafeBytes(console.output.write)
    }

    private static func contents(of file: String?, standardInput: any ByteSource) throws -> Data {
        var source = standardInput
        if let file, file != "-" { source = try DescriptorSource(path: file) }
        var window = InputWindow(source)
        while try window.readMore() {}
        return window.withUnsafeBytes { Data($0) }
    }
}
#endif
