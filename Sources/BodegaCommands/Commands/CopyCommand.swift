#if CommandLineTool
import ArgumentParser
import Bodega
import Foundation

/// `bodega copy`.
struct CopyCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy all items to another store, with their order and dates.",
        discussion: """
            The destination is created if it is missing, unless it is on a server. Items are copied in \
            atomic batches, and each is read back and \
            compared. Items that the destination already has, byte for byte, are skipped, so after an interruption or \
            a crash, run the same command again to continue.

            Without --overwrite, items that the destination has with different bytes are kept, and their keys are \
            listed at the end, with exit status 1. Items that only the destination has are kept, too. The source is \
            only read; an item that changes during the copy is copied as it is when its batch is read. Other programs \
            should not write to the destination during the copy: an item written just before its batch is replaced.

            Without keysets, encrypted items are copied as they are stored; in a collection with another name, they \
            need --keyset-collection with the old name. With --from-keyset items are decrypted, with --to-keyset they \
            are encrypted: give both to copy into a store with another keyset or collection, and --to-keyset alone to \
            encrypt a store. Nothing is copied if items would be encrypted twice, or clear text would be written among \
            items that seem to be encrypted. The variable BODEGA_KEYSET is not used, so that no secret is copied in \
            clear text by accident. Items that can't be decrypted are listed at the end, with exit status 1.

            One collection is copied. For a file with all its collections use backup, for a database pg_dump.

            With --json one object is printed, also if the copy fails: {"copied", "present", "overwritten", \
            "conflicts", "bytes", "milliseconds"} and, after a failure, "error".

            EXAMPLES:
              bodega copy notes.db disk:notes
              bodega copy disk:notes sqlite:all.db#notes
              bodega copy notes.db postgres://app@db.example.com/notes
              bodega copy https://data.example.com#notes notes.db --from-token-file token
              bodega copy notes.db copy.db --overwrite --json
            """)

    @Argument(
        help:
            "The store to copy: sqlite:PATH, disk:PATH, postgres://…, https://…, with #COLLECTION, or a path.",
        completion: .file())
    var source: String

    @Argument(help: "The store to copy to, in the same form.", completion: .file())
    var destination: String

    @Flag(help: "Replace items of the destination that are different.")
    var overwrite = false

    @Flag(help: "Copy, even if items seem to be encrypted in another way than the keysets say.")
    var unchecked = false

    @Flag(help: "Print the result as a JSON object, also if the copy fails.")
    var json = false

    @Flag(help: "Print no progress and no result.")
    var quiet = false

    @OptionGroup var fromKeyset: PairKeysetOptions<CopySource>
    @OptionGroup var toKeyset: PairKeysetOptions<CopyDestination>
    @OptionGroup var fromToken: PairTokenOptions<CopySource>
    @OptionGroup var toToken: PairTokenOptions<CopyDestination>
    @OptionGroup var reporting: ReportingOptions

    func validate() throws {
        if json, quiet { throw ValidationError("--json and --quiet exclude each other.") }
    }

    func run(on console: Console) async throws {
        let start = console.clock()
        var report = CopyReport()
        var bar = ProgressBar(console: console, isQuiet: quiet)
        var isComplete = false
        let failure: (any Error)?
        do {
            try await copy(on: console, report: &report, bar: &bar)
            isComplete = true
            failure = Self.remainder(report)
        } catch {
            failure = Self.failure(error, after: report, on: console)
        }
        bar.clear()
        let seconds = console.clock() - start
        if json {
            try report.json(seconds: seconds, failure: failure.map { "\($0)" }).withUnsafeBytes(console.output.write)
        } else if !quiet, isComplete {
            try console.output.write(report.text(seconds: console.isOutputTerminal ? seconds : nil))
        }
        if let failure { throw failure }
    }

    private func copy(on console: Console, report: inout CopyReport, bar: inout ProgressBar) async throws {
        let from = try StorageAddress(argument: source)
        let to = try StorageAddress(argument: destination, mustExist: false)
        if from.isSamePlace(as: to) {
            throw ToolError(.usage, "The source and the destination are the same store. Name another destination.")
        }
        let encryptions = (try fromKeyset.encryption(), try toKeyset.encryption())
        let tokens = (
            try fromToken.token(for: from, beside: to, console.environment),
            try toToken.token(for: to, beside: from, console.environment)
        )
        console.interruption.listen()
        // The source is opened first, so that a missing source leaves no empty destination.
        try await from.openToRead(token: tokens.0).decrypting(with: encryptions.0).use { source in
            if !quiet { try await source.noteOtherCollections("copied", on: console) }
            try await to.openOrCreate(token: tokens.1).decrypting(with: encryptions.1).use { destination in
                try await check(source, destination, on: console)
                if !quiet { try await noteReferences(source, destination, on: console) }
                let copier = Copier(source: source.engine, destination: destination.engine, overwrites: overwrite)
                try await copier.run(report: &report) { report in
                    bar.update(items: report.done, done: report.done, of: report.total)
                    if let status = console.interruption.status, report.done < report.total {
                        throw ToolError(status, "Interrupted.")
                    }
                }
            }
        }
    }

    /// Checks that no item will be encrypted twice, and that no clear text will be written among encrypted items.
    private func check(_ source: OpenStore, _ destination: OpenStore, on console: Console) async throws {
        if let encryption = source.encryption, encryption.keysetForKeys == nil, !unchecked,
            try await source.base.fetchKeys().contains(where: \.hasFormOfHiddenKey)
        {
            throw ToolError(
                .failure,
                "The keys of \(source.address) seem to be hidden. Give --from-keyset-for-keys FILE, or --unchecked.")
        }
        let isSourceEncrypted = source.encryption == nil ? try await source.seemsEncrypted() : false
        if destination.encryption != nil {
            if isSourceEncrypted, !unchecked {
                throw ToolError(
                    .failure,
                    """
                    Items of \(source.address) seem to be encrypted already. Give their keyset with --from-keyset \
                    FILE, or encrypt them again with --unchecked.
                    """)
            }
            return try await destination.checkEncryption()
        }
        if !isSourceEncrypted {
            if !unchecked { try await destination.checkEncryption() }
        } else if !quiet, source.address.collection != destination.address.collection {
            console.complain(
                """
                note: items that seem to be encrypted are copied as stored. To read the copies, give \
                --keyset-collection "\(source.address.collection ?? "")", the name of their collection until now.
                """)
        }
    }

    /// Says that what is declared about the items is not copied with them.
    private func noteReferences(_ source: OpenStore, _ destination: OpenStore, on console: Console) async throws {
        let known = try await destination.engine.references?.fetchReferences() ?? []
        let missing = try await source.engine.references?.fetchReferences().filter { !known.contains($0) } ?? []
        if missing.isEmpty { return }
        let names = missing.map { "\"\($0.path)\"" }.joined(separator: ", ")
        console.complain(
            """
            note: the declarations of the references \(names) are not copied. Until a program declares them, a removal \
            in the copy has no consequences. To copy a whole file with them, use: bodega backup
            """)
    }

    /// The error for items that were not copied, `nil` if all were.
    private static func remainder(_ report: CopyReport) -> ToolError? {
        var messages: [String] = []
        if !report.conflicts.isEmpty {
            messages = ["The destination has different items under these keys. Give --overwrite to replace them."]
            messages += ToolError.list(report.conflicts.map { "\($0)" })
        }
        if let error = report.unreadable.error("could not be copied", advice: keysetAdvice) {
            messages.append(error.message)
        }
        return messages.isEmpty ? nil : ToolError(.failure, messages.joined(separator: "\n"))
    }

    private static let keysetAdvice = """
        Give the keyset that the items were written with (--from-keyset FILE), and the name of the collection that was \
        authenticated with them (--from-keyset-collection NAME).
        """

    /// The error for the user when a copy ends early.
    private static func failure(_ error: any Error, after report: CopyReport, on console: Console) -> any Error {
        switch error {
        case let error as ToolError where error.status != .usage:
            return ToolError(error.status, "\(error.message) \(report.advice)")
        case let error as StorageError:
            // The same command would end at the same place.
            let advice = error.code == .damaged ? report.progress : report.advice
            return ToolError(.failure, "\(console.sentence(of: error)) \(advice)")
        default: return error
        }
    }
}
#endif
