#if CommandLineTool
import ArgumentParser
import Bodega

/// `bodega verify`.
struct VerifyCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a store for damage: its items, structure, dates, keys and orphaned files.",
        discussion: """
            A line for each finding. A problem means that data is damaged, unreachable or unreadable; the exit status \
            is then 1. A remark means that no data is known to be lost: files left by an interrupted write or backup, \
            empty files, tables of another program, an item that names another one, by a reference that a program has \
            declared, that does not exist. The store is not changed.

            Every item is read. In an SQLite file, its structure, its indexes, and the keys, kinds and dates of the \
            items are examined; in a folder, whether the record of each file, with its key and dates, can be read and \
            belongs to the file's name, and whether a file is empty.

            Not noticed is what only a checksum or a list of all items could show, which stores don't have: changed \
            bytes of an item; in a folder also cut off bytes, changed dates, and removed files. --expect-json finds \
            items that are no longer JSON, and a keyset finds every change of an encrypted item. A note on standard \
            error says this for the store.

            With a keyset, an item that can't be decrypted is a problem, too. Each collection is expected to be \
            encrypted with its own name, unless one is named.

            All collections of a file or a database are read unless one is named; of a server, one collection is \
            read, as far as the token gives the right to. \
            Other programs can write during the check.

            With --json one object is printed: {"items", "problems", "remarks", "unnoticed"}; the last three are \
            lists of texts.

            EXAMPLES:
              bodega verify notes.db
              bodega verify disk:notes --expect-json
              bodega verify notes.db --json | jq -r '.problems[]'
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Report items that are not JSON as problems.")
    var expectJson = false

    @Flag(help: "Print a JSON object.")
    var json = false

    @Flag(help: "Print problems only, and no progress.")
    var quiet = false

    func validate() throws {
        if json, quiet { throw ValidationError("--json and --quiet exclude each other.") }
    }

    func run(on console: Console) async throws {
        let console = output.applied(to: console)
        let address = try store.checkedAddress()
        let encryption = try store.keyset.encryption(console.environment)
        var verification = Verification(expectsJSON: expectJson)
        var bar = ProgressBar(console: console, isQuiet: quiet)
        // A store that can't be opened is not necessarily damaged: its name may be wrong, or a permission missing.
        var isOpen = false
        var advice = Self.advice
        do {
            let token = try store.token.token(for: address, console.environment)
            let store = try await address.openToRead(token: token).decrypting(with: encryption)
            try await store.use { store in
                isOpen = true
                try await verification.run(store) { done, total in bar.update(items: done, done: done, of: total) }
            }
        } catch let error as StorageError where error.code == .damaged || error.code == .cannotOpen {
            if error.code == .damaged { isOpen = true }
            verification.add(error)
        } catch let error as ToolError where error == .unfinishedBatch(in: address) {
            verification.add(error)
            advice = "The store could not be examined. Finish the batch, then verify the store again."
        }
        bar.clear()
        let limits = VerificationLimits(of: address, isDecrypting: encryption != nil, expectsJSON: expectJson)
        try report(verification, limits, on: console)
        if !quiet {
            console.noteEncrypted(verification.encrypted, "examined")
            if isOpen { console.complain("note: \(limits.note)") }
        }
        if verification.needsOtherKeyset {
            advice = "\(UnreadableItems.keysetAdvice) If both are right, the store is damaged. \(Self.restoration)"
        }
        guard verification.hasProblems else { return }
        if verification.isOnlyInterrupted { advice = "The store could not be examined to the end. Verify it again." }
        throw ToolError(.failure, isOpen ? advice : "The store could not be examined.")
    }

    private func report(_ verification: Verification, _ limits: VerificationLimits, on console: Console) throws {
        let findings = verification.findings
        if json {
            return try console.print([
                "items": verification.count,
                "problems": findings.filter { $0.severity == .problem }.map(Self.text),
                "remarks": findings.filter { $0.severity == .remark }.map(Self.text),
                "unnoticed": limits.unnoticed,
            ])
        }
        for finding in findings where !quiet || finding.severity == .problem {
            let mark = console.styled(finding.severity.rawValue, finding.severity == .problem ? .red : .yellow)
            try console.output.write("\(mark): \(console.shown(Self.text(finding)))\n")
        }
        if quiet { return }
        let result = verification.hasProblems ? "" : console.styled("no problem found", .green) + ", "
        try console.output.write("\(result)\(Counted.text(verification.count, "item")) read\n")
    }

    private static func text(_ finding: StorageFinding) -> String {
        String(finding.description.dropFirst(finding.severity.rawValue.count + 2))
    }

    private static let advice = "There are problems. \(restoration)"

    private static let restoration = """
        Restore the store from a backup. If there is none, keep a copy of it as it is before you \
        try anything; for an SQLite file there is the command .recover of sqlite3, SQLite's own tool, as sqlite.org \
        offers it. Those of some systems, such as Debian, have no such command.
        """
}
#endif
