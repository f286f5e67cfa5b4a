#if CommandLineTool
import ArgumentParser
import Bodega
import Foundation

extension ImportInput.Format: ExpressibleByArgument {}

/// `bodega import`.
struct ImportCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Write many items from lines of JSON, a JSON array, a folder of files or an export.",
        discussion: """
            The input's format is detected: a folder; an export of bodega, by its first line; a JSON document, if it \
            begins with a bracket or --array is given; else JSON values, one per line. Values are stored byte for byte \
            as they are in the input. A key is a string or a number in the record. The keys of a folder's files are \
            their relative paths; links are left out.

            The input is written in atomic batches. A bad record ends the import: its batch is not written, earlier \
            batches are. A batch from a pipe or a terminal is written within about half a second of its first record, \
            even if no more input comes. Ctrl-C and SIGTERM end the import of a file between two batches; the same \
            command then writes the rest, and the first items again. From a pipe, all records that were read are \
            written first; a record that was read in part is lost. Text that is not JSON always ends the import of an \
            array, because the elements after it can't be found. The input has to be UTF-8.

            Nothing is imported if the store's items seem to be encrypted and no keyset, or the wrong one, is given.

            With --json one object is printed, also if the import fails: {"imported", "replaced", "skipped", "bytes", \
            "milliseconds"} \
            and then "error".

            EXAMPLES:
              bodega import people.db people.ndjson --key id
              bodega import people.db people.json --array data.people --key name
              bodega import disk:site public/
              zcat feed.ndjson.gz | bodega import feed.db --key id --skip-bad --json
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeyOptions

    @Argument(help: "A file or folder; standard input if it is left out or -.", completion: .file())
    var source: String?

    @Option(help: ArgumentHelp("The path to each record's key: member names separated by dots.", valueName: "path"))
    var key: String?

    @Option(help: ArgumentHelp("The path to the array in a JSON document, such as data.people.", valueName: "path"))
    var array: String?

    @Option(help: "The input's format.")
    var format = ImportInput.Format.auto

    @Option(
        parsing: .unconditional, help: ArgumentHelp("The maximum number of items in a batch.", valueName: "count"))
    var batchSize = 10_000

    @Flag(help: "Report bad records and leave them out.")
    var skipBad = false

    @Flag(help: "Write in clear text, even if items of the store seem to be encrypted.")
    var unchecked = false

    @Flag(help: "Print the result as a JSON object, also if the import fails.")
    var json = false

    @Flag(help: "Print no progress and no result.")
    var quiet = false

    func validate() throws {
        if batchSize < 1 { throw ValidationError("--batch-size must be at least 1.") }
        if json, quiet { throw ValidationError("--json and --quiet exclude each other.") }
    }

    func run(on console: Console) async throws {
        let start = console.clock()
        var report = ImportReport()
        var bar = ProgressBar(console: console, isQuiet: quiet)
        let failure: (any Error)?
        do {
            try await importRecords(on: console, report: &report, bar: &bar)
            failure = nil
        } catch {
            failure = self.failure(error, after: report, on: console)
        }
        bar.clear()
        let seconds = console.clock() - start
        if json {
            try report.json(seconds: seconds, failure: failure.map { "\($0)" }).withUnsafeBytes(console.output.write)
        } else if !quiet, failure == nil {
            try console.output.write(report.text(seconds: console.isOutputTerminal ? seconds : nil))
        }
        if let failure { throw failure }
    }

    private func importRecords(
        on console: Console, report: inout ImportReport, bar: inout ProgressBar
    ) async throws {
        let input = ImportInput(
            path: source, format: format, array: try array.map(JSONPath.init(parsing:)),
            key: try key.map(JSONPath.init(parsing:)), keyKind: keys.kind)
        try checkStoreIsNotInSource()
        // The input is opened first, so that an invalid argument leaves no empty store behind.
        var records = try input.records(standardInput: console.input, interruption: console.interruption)
        // From here on, a signal ends the command only after the current batch.
        console.interruption.listen()
        try await store.use(on: console, isUnchecked: unchecked) { store in
            var importer = Importer(engine: store.engine, batchSize: batchSize, skipsBadRecords: skipBad)
            // A server accepts 64 MiB in a request by default, in which items that are not JSON are longer by a third.
            if store.address.engine == .server { importer.batchBytes = 16 * 1024 * 1024 }
            try await importer.run(&records, report: &report, interruption: console.interruption, clock: console.clock)
            { bad in
                bar.clear()
                console.complain("\(bad.place): \(bad.reason) Skipped.")
            } onProgress: { report, progress, total in
                bar.update(items: report.imported, done: progress, of: total)
            }
        }
    }

    /// The error for the user when an import ends early.
    private func failure(_ error: any Error, after report: ImportReport, on console: Console) -> any Error {
        let count = report.imported
        let items = "\(Counted.text(count, "item")) \(Counted.past(count))"
        func outcome(_ text: String) -> String { count == 0 ? "Nothing was imported." : text }
        // This text also fits a failure outside of a batch, such as one to close the store.
        let before = outcome("Before that, \(items) imported.")
        let batches = outcome(
            """
            \(count == 1 ? "The item" : "The \(count) items") of the batches before it \(Counted.past(count)) \
            imported, the others not.
            """)
        switch error {
        case let bad as BadRecord:
            return ToolError(bad.status, "\(bad.place): \(bad.reason) \(batches)")
        case let error as ToolError where error.status == .badInput:
            return ToolError(.badInput, "\(error.message) \(batches)")
        case let error as ToolError where error.status == .failure:
            return ToolError(.failure, "\(error.message) \(before)")
        case let error as ToolError where [.interrupted, .terminated].contains(error.status):
            // What was read from a pipe can't be read again.
            if console.input.canWait, source ?? "-" == "-" {
                return ToolError(error.status, "\(error.message) \(outcome("\(items) imported, all that were read."))")
            }
            let advice = outcome(
                """
                \(items) imported. Run the same command again to import the rest; it also writes \
                \(count == 1 ? "this item" : "these items") again.
                """)
            return ToolError(error.status, "\(error.message) \(advice)")
        case let error as StorageError where [.unreachable, .timedOut].contains(error.code):
            // What was sent may have arrived, although no answer came.
            let known = count == 0 ? "" : "Before that, \(items) imported. "
            return ToolError(
                .failure,
                """
                \(console.sentence(of: error)) \(known)Whether more were is not known: run the same command again, \
                which also writes what was imported again.
                """)
        case let error as StorageError:
            return ToolError(.failure, "\(console.sentence(of: error)) \(before)")
        default:
            return error
        }
    }

    private func checkStoreIsNotInSource() throws {
        guard let source, source != "-" else { return }
        let folder = URL(fileURLWithPath: source).resolvingSymlinksInPath().path
        guard let file = try store.checkedAddress(mustExist: false).fileURL?.resolvingSymlinksInPath().path else {
            return
        }
        if file == folder || file.hasPrefix(folder + "/") {
            throw ToolError(.usage, "The store is inside the folder to import. Put it somewhere else.")
        }
    }
}
#endif
