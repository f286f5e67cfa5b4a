#if CommandLineTool
import ArgumentParser
import Bodega
import BodegaSync

/// `bodega outbox`.
struct OutboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "List, retry and discard the changes of an SQLite file that its remote database does not have.",
        discussion: """
            The outbox is in the file itself, see bodega help sync. These commands work without a network. \
            bodega outbox LOCAL is short for bodega outbox list LOCAL.
            """,
        subcommands: [
            ListOutboxCommand.self, RetryOutboxCommand.self, DiscardOutboxCommand.self, ConflictsCommand.self,
        ],
        defaultSubcommand: ListOutboxCommand.self
    )
}

/// `bodega outbox list`.
struct ListOutboxCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the changes that the remote database does not have, the oldest first.",
        discussion: """
            A change is waiting, sent but not yet answered, or parked because the remote database refuses it; then the \
            reason is shown. Nothing is created or changed.

            With --json each line is an object: {"collection", "key", "kind", "change", "state"} and, if it is parked, \
            "code" and "message". "change" is written or removed, "state" is waiting, sent or parked.

            EXAMPLES:
              bodega outbox notes.db
              bodega outbox notes.db --json | jq -r 'select(.state == "parked").message'
            """)

    @OptionGroup var outbox: OutboxOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func run(on console: Console) async throws {
        let console = output.applied(to: console)
        try await outbox.read(on: console) { outbox, collection in
            let entries = try await outbox.fetchPending(in: collection).map(OutboxEntry.init)
            if json { return try entries.forEach { try $0.json.withUnsafeBytes(console.output.write) } }
            var table = TextTable(header: OutboxEntry.header, console: console)
            for entry in entries { try table.add(entry.cells) }
            try table.finish()
        }
    }
}

/// The keys of items with changes in the outbox.
struct OutboxKeys: ParsableArguments {
    @OptionGroup var keys: KeyOptions

    @Argument(help: "The keys. Write -- before them if one begins with a hyphen.")
    var key: [String] = []

    func validate(all: Bool) throws {
        if all != key.isEmpty { throw ValidationError("Name the keys, or give --all.") }
    }

    /// The changes that the arguments denote. If no kind is named and the hashed key has none, it is that of an item of
    /// another kind that the list shows in the same way.
    ///
    /// - Throws: A ``ToolError`` if there is none, or more than one.
    func changes(among pending: [PendingChange]) throws -> [PendingChange] {
        try key.map { argument in
            let key = try keys.key(argument)
            var found = pending.filter { $0.key == key }
            if found.isEmpty, keys.kind == .hashed { found = pending.filter { $0.key.rawValue == key.rawValue } }
            guard let change = found.first else {
                throw ToolError(.keyNotFound, "The outbox has no change of an item under the key \(argument).")
            }
            if found.count > 1 {
                let names = found.map { "\"\($0.collection)\", \($0.key.kind.rawValue)" }.joined(separator: "; ")
                throw ToolError(
                    .usage,
                    "The key \(argument) is that of several items: \(names). Give --collection, --verbatim or --url.")
            }
            return change
        }
    }
}

/// `bodega outbox retry`.
struct RetryOutboxCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Send parked changes again.",
        discussion: """
            They are sent the next time that a program synchronizes, with the other changes of their transactions.

            EXAMPLES:
              bodega outbox retry notes.db today
              bodega outbox retry notes.db --all && bodega sync notes.db https://data.example.com
            """)

    @OptionGroup var outbox: OutboxOptions
    @OptionGroup var keys: OutboxKeys

    @Flag(help: "Send all parked changes again.")
    var all = false

    func validate() throws { try keys.validate(all: all) }

    func run(on console: Console) async throws {
        try await outbox.change { outbox, collection in
            let pending = try await outbox.fetchPending(in: collection)
            let wanted = all ? pending.filter { $0.failure != nil } : try keys.changes(among: pending)
            if let change = wanted.first(where: { $0.failure == nil }) {
                throw ToolError(.failure, "The change of \(change.key) is not parked: it is sent in any case.")
            }
            for change in wanted { try await outbox.retry(change.key, in: change.collection) }
        }
    }
}

/// `bodega outbox discard`.
struct DiscardOutboxCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Give up changes: the items are again as the remote database has them.",
        discussion: """
            The other changes of their transactions are given up, too. A change that was sent can't be given up, \
            because the remote database may have it. Giving up all changes requires --yes or a confirmation on a \
            terminal.

            The number of changes that were given up is printed.

            EXAMPLES:
              bodega outbox discard notes.db today
              bodega outbox discard notes.db --all --yes
            """)

    @OptionGroup var outbox: OutboxOptions
    @OptionGroup var keys: OutboxKeys

    @Flag(help: "Give up all changes that are not sent.")
    var all = false

    @Flag(name: [.short, .long, .customLong("force")], help: "Give up all changes without a confirmation.")
    var yes = false

    func validate() throws { try keys.validate(all: all) }

    func run(on console: Console) async throws {
        try await outbox.change { outbox, collection in
            let pending = try await outbox.fetchPending(in: collection)
            let wanted = all ? pending.filter { !$0.isSent } : try keys.changes(among: pending)
            if let change = wanted.first(where: \.isSent) {
                throw ToolError(
                    .failure, "The change of \(change.key) was sent, and can't be given up. Synchronize first.")
            }
            if all, !yes, !wanted.isEmpty { try confirm(wanted.count, on: console) }
            var count = 0
            for change in wanted { count += try await outbox.discard(change.key, in: change.collection).count }
            try console.output.write("discarded \(count)\n")
            let sent = all ? pending.count { $0.isSent } : 0
            if sent > 0 {
                let changes = Counted.text(sent, "change was", "changes were")
                throw ToolError(.failure, "\(changes) sent, and can't be given up. Synchronize first.")
            }
        }
    }

    private func confirm(_ count: Int, on console: Console) throws {
        guard console.canAsk else {
            throw ToolError(.usage, "--all gives up all changes that are not sent. Give --yes to confirm.")
        }
        guard try console.isConfirmed("Give up \(Counted.text(count, "change"))?") else {
            throw ToolError(.failure, "Nothing was given up.")
        }
    }
}
#endif
