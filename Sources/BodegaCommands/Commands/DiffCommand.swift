#if CommandLineTool
import ArgumentParser
import Bodega
import RecordCoder

/// `bodega diff`.
struct DiffCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compare two stores, key by key and byte for byte.",
        discussion: """
            A line for each difference: + and the key of an item that only the second store has, - for one that only \
            the first has, ~ for one that both have with different bytes. Dates and order are ignored.

            Encrypted items are decrypted if the keyset of their store is given, otherwise compared as they are \
            stored: equal items are stored as different bytes. The variable BODEGA_KEYSET is not used.

            Items that can't be decrypted are listed at the end, and the others are compared.

            The exit status is 0 if there is no difference, 1 if there is one, 2 if the stores could not be compared.

            With --json each line is an object: {"change": "added", "removed" or "changed", "key", "kind", "before", \
            "after"}, the last two in bytes, where there is an item.

            EXAMPLES:
              bodega diff notes.db backup.db
              bodega diff notes.db disk:notes --json | jq -r .key
              bodega diff --quiet notes.db backup.db && echo the same
            """)

    @Argument(
        help:
            "The first store: sqlite:PATH, disk:PATH, postgres://…, https://…, with #COLLECTION, or a path.",
        completion: .file())
    var first: String

    @Argument(help: "The second store, in the same form.", completion: .file())
    var second: String

    @OptionGroup var firstKeyset: PairKeysetOptions<FirstStore>
    @OptionGroup var secondKeyset: PairKeysetOptions<SecondStore>
    @OptionGroup var firstToken: PairTokenOptions<FirstStore>
    @OptionGroup var secondToken: PairTokenOptions<SecondStore>
    @OptionGroup var output: OutputOptions
    @OptionGroup var reporting: ReportingOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(help: "Print nothing; use the exit status.")
    var quiet = false

    func validate() throws {
        if json, quiet { throw ValidationError("--json and --quiet exclude each other.") }
    }

    func run(on console: Console) async throws {
        let isDifferent: Bool
        do {
            isDifferent = try await compare(on: output.applied(to: console))
        } catch let error as ToolError where error.status == .failure {
            throw ToolError(.trouble, error.message)
        } catch let error as StorageError {
            throw ToolError(.trouble, console.text(of: error))
        }
        if isDifferent { throw SilentFailure(status: .failure) }
    }

    private func compare(on console: Console) async throws -> Bool {
        let addresses = (try StorageAddress(argument: first), try StorageAddress(argument: second))
        let encryptions = (try firstKeyset.encryption(), try secondKeyset.encryption())
        let tokens = (
            try firstToken.token(for: addresses.0, beside: addresses.1, console.environment),
            try secondToken.token(for: addresses.1, beside: addresses.0, console.environment)
        )
        return try await addresses.0.openToRead(token: tokens.0).decrypting(with: encryptions.0).use { first in
            try await addresses.1.openToRead(token: tokens.1).decrypting(with: encryptions.1).use { second in
                var output = BufferedOutput(console.output)
                var isDifferent = false
                let unreadable = UnreadableItems()
                let comparison = StoreComparison(first: first.engine, second: second.engine)
                let encrypted = try await comparison.run(unreadable: unreadable) { difference in
                    isDifferent = true
                    if !quiet { try output.write(line(for: difference, on: console)) }
                }
                try output.flush()
                if encrypted > 0 {
                    console.complain(
                        """
                        note: \(Counted.text(encrypted, "different item seems", "different items seem")) to be \
                        encrypted and \(Counted.past(encrypted)) compared as stored. Give --first-keyset and \
                        --second-keyset to compare the contents.
                        """)
                }
                try unreadable.check("could not be compared", advice: Self.advice)
                return isDifferent
            }
        }
    }

    private static let advice = """
        Give the keysets that the items were written with (--first-keyset FILE, --second-keyset FILE), and the names \
        of the collections that were authenticated with them (--first-keyset-collection NAME, \
        --second-keyset-collection NAME).
        """

    private func line(for difference: StoreDifference, on console: Console) -> [UInt8] {
        if json {
            return JSONObjectWriter.line([
                "change": difference.change.rawValue, "key": difference.key.rawValue,
                "kind": difference.key.kind.rawValue, "before": difference.before, "after": difference.after,
            ])
        }
        let (mark, color): (String, TextStyle) =
            switch difference.change {
            case .added: ("+", .green)
            case .removed: ("-", .red)
            case .changed: ("~", .yellow)
            }
        let key = console.shown(difference.key.rawValue)
        return Array((console.styled("\(mark) \(key)", color) + "\n").utf8)
    }
}
#endif
