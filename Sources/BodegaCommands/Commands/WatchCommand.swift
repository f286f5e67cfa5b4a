#if CommandLineTool
import ArgumentParser
import Bodega
import Foundation

/// `bodega watch`.
struct WatchCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show what changes, as it changes, until it is interrupted.",
        discussion: """
            A line for each change: when the item was written, in UTC, whether it was inserted, updated or removed, and \
            the key. For a removal it is the time when it was noticed.

            An SQLite file that a program follows, as Boutique's stores do, keeps a log of its changes, and a database \
            always does. Then each of them is shown, at once, in the order in which they took effect. Of an item that has changed again meanwhile, \
            the time is that of the last write.

            Any other store is looked at every second, or as often as --interval says, and read only if its files have \
            changed; then the keys and dates of all items are compared. What happens to an item more than once in between \
            counts once. A file that another program changes in place in a folder is noticed with the next change of the folder. \
            Nothing is written, and nobody has to wait, but who writes to a file of Bodega 2 that is not in WAL mode waits \
            for each look.

            It ends with Ctrl-C or SIGTERM, with exit status 0, and when nobody reads its output any more.

            With --json each line is an object: {"time", "change", "key", "kind"}.

            EXAMPLES:
              bodega watch notes.db
              bodega watch disk:notes --interval 0.2 --json | jq -r .key
            """
    )

    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    @Option(help: ArgumentHelp("How often to look, in seconds.", valueName: "seconds"))
    var interval = 1.0

    @Flag(help: "Print a JSON object a line.")
    var json = false

    func validate() throws {
        guard (0.01...86_400).contains(interval) else {
            throw ValidationError("--interval must be from 0.01 to 86400 seconds.")
        }
    }

    func run(on console: Console) async throws {
        let console = output.applied(to: console)
        console.interruption.listen()
        let address = try store.checkedAddress()
        var watch = try await StoreWatch(address)
        if console.isErrorTerminal {
            try console.errors.write("Watching \(TerminalText.escaped(address.description)). Ctrl-C ends it.\n")
        }
        let events = address.engine == .sqlite ? FileWatch(of: address.path) { console.interruption.wake() } : nil
        defer { events?.cancel() }
        let signals = watch.signals().map { signals in
            Task { for await _ in signals { console.interruption.wake() } }
        }
        defer { signals?.cancel() }
        console.onReady()
        while true {
            await console.interruption.wait(seconds: interval, orWoken: watch.hasHistory)
            if console.interruption.status != nil { return try await watch.close() }
            if console.output.isAbandoned { throw BrokenPipe() }
            do {
                let events = try await watch.changes(now: Date())
                try console.output.write(events.map { line(for: $0, on: console) }.joined())
            } catch let error as StorageError where error.code == .locked {
                // The next look will tell.
                continue
            }
        }
    }

    private func line(for event: StoreWatchEvent, on console: Console) -> String {
        let time = ItemLine.timestamp(event.date)
        if json {
            var object = JSONObjectWriter()
            object.add("time", time)
            object.add("change", event.change.rawValue)
            object.add("key", event.key.rawValue)
            object.add("kind", event.key.kind.rawValue)
            return String(decoding: object.line(), as: UTF8.self)
        }
        let style: TextStyle =
            switch event.change {
            case .inserted: .green
            case .updated: .yellow
            case .removed: .red
            }
        let change = event.change.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
        return "\(console.styled(time, .dim))  \(console.styled(change, style))  \(console.shown(event.key.rawValue))\n"
    }
}
#endif
