#if CommandLineTool
import ArgumentParser
import Bodega
import Foundation

/// `bodega watch`.
struct WatchCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print changes as they happen, until interrupted.",
        discussion: """
            A line for each change: when the item was written, in UTC, whether it was inserted, updated or removed, \
            and the key. For a removal the time is when it was observed.

            An SQLite file that a program follows, as Boutique's stores do, has a log of its changes, and a database \
            always has one; a server's collection has that of its store. \
            Then each change is shown immediately, in the order in which they took effect. \
            If an item \
            has changed again by then, the time is that of the last write.

            Any other store is checked every second, or at the interval of --interval, and read only if its files have \
            changed; then the keys and dates of all items are compared. Several changes of an item between two checks \
            are shown as one. A file that another program changes in place in a folder is noticed with the next change \
            of the folder. The store is not changed, and writers don't wait, except that writers to a file of Bodega 2 \
            that is not in WAL mode wait for each check.

            A database or a server that can't be reached for some time is asked again, at the same interval; then the \
            changes in between are shown. \
            The command ends on Ctrl-C or SIGTERM, with exit status 0, and when the reader of its output closes it.

            With --json each line is an object: {"time", "change", "key", "kind"}.

            EXAMPLES:
              bodega watch notes.db
              bodega watch disk:notes --interval 0.2 --json | jq -r .key
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The interval between two checks, in seconds.", valueName: "seconds"))
    var interval = 1.0

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard (0.01...86_400).contains(interval) else {
            throw ValidationError("--interval must be from 0.01 to 86400 seconds.")
        }
    }

    func run(on console: Console) async throws {
        let console = output.applied(to: console)
        // An engine may block a thread while it waits for a server that does not answer.
        console.interruption.listen(limit: (seconds: 3, status: .success))
        let address = try store.checkedAddress()
        let encryption = try store.keyset.encryption(console.environment)
        let token = try store.token.token(for: address, console.environment)
        let lines = WatchLines(isJSON: json, console: console)
        try await console.interruption.run(grace: 1) { [interval] in
            try await Self.watch(address, token, encryption, every: interval, lines)
        }
    }

    private static func watch(
        _ address: StorageAddress, _ token: ServerToken?, _ encryption: StoreEncryption?, every interval: Double,
        _ lines: WatchLines
    ) async throws {
        let console = lines.console
        let interruption = console.interruption
        var watch = try await StoreWatch(address, encryption, token: token)
        if let error = watch.hiddenKeys { console.complain("note: \(error.message)") }
        if !watch.hasLog, let error = watch.undated.error("can't be watched") {
            console.complain("note: \(error.message)")
        }
        if console.isErrorTerminal {
            try console.errors.write("Watching \(TerminalText.escaped(address.description)). Ctrl-C ends it.\n")
        }
        let events = address.engine == .sqlite ? FileWatch(of: address.path) { interruption.wake() } : nil
        defer { events?.cancel() }
        let signals = watch.signals().map { signals in
            Task { for await _ in signals { interruption.wake() } }
        }
        defer { signals?.cancel() }
        var pace = WatchPace()
        var failure: String?
        console.onReady()
        while true {
            let isWoken = await interruption.wait(seconds: interval, orWoken: watch.hasLog)
            if interruption.status != nil { return try await watch.close() }
            if console.output.isAbandoned { throw BrokenPipe() }
            var count = 0
            do {
                let events = try await watch.changes(now: Date())
                if failure != nil { console.complain("note: \(address) is reached again.") }
                failure = nil
                try console.output.write(events.map(lines.line).joined())
                count = events.count
            } catch let error as StorageError where watch.mayRetry(after: error) {
                // The next check retries. A file that is locked for a moment is not worth a note.
                if address.fileURL == nil, failure != error.message {
                    failure = error.message
                    console.complain("note: \(error.message) Retrying…")
                }
            }
            if isWoken { await interruption.wait(seconds: min(pace.pause(afterFinding: count), interval)) }
        }
    }
}
#endif
