#if CommandLineTool
import ArgumentParser
import Bodega
import BodegaSync
import Foundation

/// `bodega sync`.
struct SyncCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Synchronize collections of an SQLite file with those of a remote database.",
        discussion: """
            LOCAL is an SQLite file, which is created if it is missing. REMOTE is a server, a PostgreSQL database or \
            another SQLite file. The collections have the same names in both: that of LOCAL's address, those of \
            --collection, or all named collections that the file has. Items without a named collection are not \
            synchronized.

            The first time, all items of both are merged, and nothing is removed: what only one has, the other \
            receives, and of an item that both have, JSON objects are merged property by property. Where both have a \
            property, or where the item is no JSON object, that of LOCAL is taken; with --earlier-wins that of REMOTE. \
            The version that was not taken is kept, see bodega help outbox conflicts.

            From then on changes of either go to the other, removals included. An item that both have changed is \
            merged in the same way, with the version before as the base; a change wins over a removal. Changes of \
            LOCAL are noted in its outbox, in the same transaction as the change, by the commands of this tool and by \
            programs with BodegaSync, with or without a network. What other programs write to LOCAL is not sent.

            Encrypted items are synchronized as they are stored; where both have changed one, one of the two is taken.

            Without --follow, the command ends when all changes are sent and read, and prints how many, also if it \
            fails. A change that REMOTE refuses is parked in the outbox, and holds up no other. The exit status is 1 \
            if one is parked, or if there was no progress within --timeout; what is left stays in the outbox. Run the \
            same command again to continue.

            With --follow it goes on until Ctrl-C or SIGTERM, with exit status 0, and prints a line for each outcome \
            of a change of LOCAL: accepted, merged, refused or discarded. If the server refuses the token, the file of \
            --token-file is read again, so a new token needs no restart.

            LOCAL has one remote database. --moved says that it has another address now. To synchronize the items with \
            another database, copy them to another file first, see bodega help copy.

            With --json an object is printed: {"sent", "received", "merged", "refused"}, the last with the changes as \
            bodega outbox --json lists them; with --follow one per line: {"time", "outcome", "collection", "key", \
            "kind" and, if it is refused, "code" and "message"}.

            EXAMPLES:
              bodega sync notes.db https://data.example.com --token-file token
              bodega sync notes.db#notes postgres://app@db.example.com/notes --follow
              bodega sync notes.db /media/stick/notes.db
            """)

    @Argument(help: "The SQLite file: sqlite:PATH or a path, with or without #COLLECTION.", completion: .file())
    var local: String

    @Argument(help: "The remote database: https://…, postgres://…, sqlite:PATH, or a path.", completion: .file())
    var remote: String

    @Option(help: ArgumentHelp("A collection; can be repeated. By default all of LOCAL.", valueName: "name"))
    var collection: [String] = []

    @Flag(help: "Go on until interrupted.")
    var follow = false

    @Flag(help: "Where both have changed a property, take what REMOTE has already.")
    var earlierWins = false

    @Flag(help: "REMOTE is the database of before at another address.")
    var moved = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The time without progress after which the command fails.", valueName: "seconds"))
    var timeout = 60.0

    @Flag(help: "Print JSON objects.")
    var json = false

    @Flag(help: "Print no progress and no result.")
    var quiet = false

    @OptionGroup var token: TokenOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var reporting: ReportingOptions

    func validate() throws {
        guard (0.1...86_400).contains(timeout) else {
            throw ValidationError("--timeout must be from 0.1 to 86400 seconds.")
        }
        if json, quiet { throw ValidationError("--json and --quiet exclude each other.") }
        if follow, quiet { throw ValidationError("--follow and --quiet exclude each other.") }
        if let name = collection.first(where: { $0.isEmpty || $0.hasPrefix(LocalOutbox.reservedPrefix) }) {
            throw ValidationError("A collection named \"\(name)\" can't be synchronized.")
        }
    }

    /// Whether two paths are names of one file, such as hard links.
    private static func areOneFile(_ paths: String...) -> Bool {
        let files = paths.map { FileStatus(path: Array($0.utf8), followingLinks: true)?.identity }
        return files[0] != nil && files[0] == files[1]
    }

    func run(on console: Console) async throws {
        let console = output.applied(to: console)
        let (from, to) = (try localAddress(), try StorageAddress(argument: remote, mustExist: false))
        guard [.sqlite, .postgres, .server].contains(to.engine) else {
            throw ToolError(
                .usage, "\(to) is a folder. The remote database is on a server, PostgreSQL or an SQLite file.")
        }
        if to.identity == from.identity || to.engine == .sqlite && Self.areOneFile(from.path, to.path) {
            throw ToolError(.usage, "Both are the same file. Name another remote database.")
        }
        let token = try token.token(for: to, console.environment)
        let named = try namedCollections(from)
        if named.isEmpty, try StoreNature(ofPath: from.path) == .missing {
            throw ToolError(
                .usage, "There is no store at \(from.path) yet. To create it, name a collection: --collection NAME.")
        }
        let address = StorageAddress.sqlite(from.path)
        let store = named.isEmpty ? try await address.openExisting() : try await address.openOrCreate()
        try await store.use { store in
            guard let sqlite = store.sqlite else { return }
            let names = try await collections(named, to, of: store, on: console)
            let known = try await store.outbox()?.fetchRemoteName()
            if let known, known != to.identity, !moved {
                throw ToolError(
                    .usage,
                    """
                    \(from) is synchronized with \(known). If \(to) is the same database at another address, give \
                    --moved. To synchronize the items with another database, copy them to another file first.
                    """)
            }
            let place = RemotePlace(to, token: token, mustExist: known != nil)
            let session = try await SyncSession(
                sqlite, at: from, names, with: place, at: to, token: token,
                policy: earlierWins ? .earlierWins : .laterWins)
            if follow { try await self.follow(session, on: console) } else { try await once(session, on: console) }
        }
    }

    private func localAddress() throws -> StorageAddress {
        let address = try StorageAddress(argument: local, mustExist: false)
        if address.engine == .sqlite { return address }
        throw ToolError(
            .usage,
            """
            \(address) is no SQLite file. Only there a change and its entry in the outbox are one transaction. Copy \
            the items to one, see bodega help copy.
            """)
    }

    /// The collections that the arguments name; none for all of the file.
    private func namedCollections(_ address: StorageAddress) throws -> [String] {
        guard let name = address.collection else { return collection }
        if name.hasPrefix(LocalOutbox.reservedPrefix) {
            throw ToolError(.usage, "A collection named \"\(name)\" can't be synchronized.")
        }
        if collection.isEmpty || collection == [name] { return [name] }
        throw ToolError(
            .usage, "The address of LOCAL names the collection \"\(name)\", and --collection others. Name all there.")
    }

    /// The collections to synchronize: also those with changes that are in the outbox, because a transaction may
    /// concern several.
    private func collections(
        _ named: [String], _ remote: StorageAddress, of store: OpenStore, on console: Console
    ) async throws -> [String] {
        var names = named
        if named.isEmpty {
            names = try await store.collectionNames() ?? []
            if names.isEmpty {
                throw ToolError(
                    .usage,
                    """
                    \(store.address) has no named collection. Name those to synchronize with --collection; items \
                    without a named collection can be copied to one, see bodega help copy.
                    """)
            }
            if !quiet, try await store.engine.fetchCount() > 0 {
                console.complain("note: the items without a named collection are not synchronized.")
            }
        }
        if let name = remote.collection, names != [name] {
            throw ToolError(
                .usage,
                """
                The address of REMOTE names the collection "\(name)". The collections have the names of LOCAL's: name \
                the database only.
                """)
        }
        names = try separable(names, areNamed: !named.isEmpty, remote, on: console)
        let changed = try await store.outbox()?.fetchPending().map(\.collection) ?? []
        for name in changed where !names.contains(name) {
            names.append(name)
            if !quiet {
                console.complain("note: the outbox has changes of the collection \"\(name)\", which are sent, too.")
            }
        }
        return names
    }

    /// The collections that can be synchronized together, with a note about each other one.
    ///
    /// - Throws: A ``ToolError`` instead of a note if the user has named the collections.
    private func separable(
        _ names: [String], areNamed: Bool, _ remote: StorageAddress, on console: Console
    ) throws -> [String] {
        var kept: [String] = []
        for name in names {
            let reason: String
            if remote.engine == .server, OpenStore.namesWithoutCollection.contains(name) {
                reason = "on a server, this name stands for something else"
            } else if kept.contains(where: { $0 == name && ExactText($0) != ExactText(name) }) {
                reason = "the name is another spelling of another collection's"
            } else {
                kept.append(name)
                continue
            }
            if areNamed { throw ToolError(.usage, "The collection \"\(name)\" can't be synchronized: \(reason).") }
            if !quiet { console.complain("note: the collection \"\(name)\" is not synchronized: \(reason).") }
        }
        return kept
    }

    private func once(_ session: SyncSession, on console: Console) async throws {
        console.interruption.listen(limit: (seconds: 5, status: .interrupted))
        var bar = ProgressBar(console: console, isQuiet: quiet)
        defer { bar.clear() }
        let (done, failure) = try await session.settle(within: timeout, on: console, &bar)
        bar.clear()
        if json {
            try done.json.withUnsafeBytes(console.output.write)
        } else if !quiet, failure == nil || !done.isEmpty {
            try console.output.write(done.text)
        }
        if let error = failure ?? done.error { throw error }
    }

    private func follow(_ session: SyncSession, on console: Console) async throws {
        // An engine may block a thread while it waits for a server that does not answer.
        console.interruption.listen(limit: (seconds: 3, status: .success))
        if console.isErrorTerminal { try console.errors.write("Synchronizing. Ctrl-C ends it.\n") }
        let lines = SyncLines(isJSON: json, console: console)
        try await console.interruption.run(grace: 1) { try await session.follow(lines) }
    }
}
#endif
