import ArgumentParser
import Bodega
import Foundation

/// `profiler run`: measures engines.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Measures engines and writes a report.",
        discussion: """
            Existing data is never changed: the path of an address must not exist or must be an empty folder, and the \
            data that is written there is removed at the end. An engine's name without a path uses a temporary folder.

            Examples:
              profiler run
              profiler run sqlite memory --operations read,write,read-all
              profiler run disk:/mnt/usb/items --value-bytes 100000 --sizes 100,1k
              profiler run sqlite --store --json before.json
              profiler run sqlite --engine .build/release/my-profiler

            Operations of engines: \(Operation.ofEngines.map(\.rawValue).joined(separator: ", ")).
            Operations of stores: \(Operation.ofTheStore.map(\.rawValue).joined(separator: ", ")).
            """
    )

    @Argument(
        help: ArgumentHelp(
            """
            Engines by name (sqlite, disk, memory) or by address (sqlite:PATH, disk:PATH). Default: all by name, or \
            only those of --engine.
            """,
            valueName: "address"))
    var addresses: [String] = []

    @Option(
        name: .customLong("engine"),
        help: ArgumentHelp(
            "A program that uses the library EngineProfiler; its engines are measured, too.", valueName: "program"))
    var programs: [String] = []

    @Flag(help: "Measure a Store on each engine, too.")
    var store = false

    @Option(
        help: ArgumentHelp(
            """
            The operations to measure, separated by commas. Default: all operations of engines, and with --store those \
            of stores.
            """,
            valueName: "names"))
    var operations: List<Operation>?

    @Option(help: ArgumentHelp("Numbers of items. (default: 1k,10k,100k)", valueName: "numbers"))
    var sizes: List<Count>?

    @Option(help: ArgumentHelp("The size of a value in bytes.", valueName: "number"))
    var valueBytes = Count(256)

    @Option(help: ArgumentHelp("The number of items in a batch.", valueName: "number"))
    var batch = Count(100)

    @Option(help: ArgumentHelp("The number of concurrent workers.", valueName: "number"))
    var concurrency = Count(1)

    @Option(help: ArgumentHelp("The time to measure each operation. (default: 0.5)", valueName: "seconds"))
    var duration: Seconds?

    @Option(help: ArgumentHelp("Make this number of calls of each operation instead.", valueName: "number"))
    var repetitions: Count?

    @Option(help: ArgumentHelp("The durability of a finished write.", valueName: "level"))
    var durability = Durability.full

    @Option(help: ArgumentHelp("The seed of the items and of their order.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("The folder for temporary data. (default: /var/tmp)", valueName: "folder"))
    var directory: String?

    @Option(
        help: ArgumentHelp(
            "The file for the report, which is overwritten. (default: profile.html)", valueName: "file"))
    var html: String?

    @Option(help: ArgumentHelp("The file for the results; - is standard output.", valueName: "file"))
    var json: String?

    @Flag(help: "Write no report.")
    var noHtml = false

    @Flag(help: "Use small sizes and times for a first result in seconds.")
    var quick = false

    func validate() throws {
        if duration != nil && repetitions != nil {
            throw ValidationError("Use either --duration or --repetitions.")
        }
        if noHtml && html != nil { throw ValidationError("Use either --html or --no-html.") }
        if valueBytes.number < Dataset.smallestValue {
            throw ValidationError(
                "--value-bytes must be at least \(Dataset.smallestValue), the bytes that identify an item.")
        }
        if let smallest = chosenSizes.min(), smallest < concurrency.number {
            throw ValidationError("--concurrency must not be larger than the smallest size, \(smallest).")
        }
        // The engine of an address can depend on the file at its path, so an invalid address is an error of the command
        // line.
        let subjects = try self.subjects()
        for (index, subject) in subjects.enumerated()
        where subjects[..<index].contains(where: { $0.name == subject.name }) {
            throw ValidationError("\(subject.name) is given twice.")
        }
    }

    func run() async throws {
        let outputs = try Outputs(html: noHtml ? nil : html ?? "profile.html", json: json)
        let run = ProfilingRun(
            plan: try plan(),
            programs: try programs.map(EngineProgram.init(path:)),
            directory: directory.map { URL(fileURLWithPath: $0, isDirectory: true) },
            terminal: .standard(.standardError)
        )
        try outputs.write(try await run.profile())
    }

    private var chosenSizes: [Int] {
        sizes?.elements.map(\.number).sorted() ?? (quick ? [100, 1000] : [1000, 10_000, 100_000])
    }

    private func subjects() throws -> [Subject] {
        let engines = Profiler.engines
        let words = addresses.isEmpty && programs.isEmpty ? defaultAddresses(engines) : addresses
        do {
            return try words.map { try Subject($0, engines: engines) }
        } catch let error as ProfilerError {
            throw ValidationError(error.description)
        }
    }

    private func defaultAddresses(_ engines: [ProfiledEngine]) -> [String] {
        engines.isEmpty ? BuiltInEngine.allCases.map(\.rawValue) : engines.map(\.name)
    }

    private func plan() throws -> Plan {
        var chosen = operations?.elements ?? Operation.ofEngines
        if store && !chosen.contains(where: { $0.group == .store }) { chosen += Operation.ofTheStore }
        let time = duration?.duration ?? (quick ? .milliseconds(30) : .milliseconds(500))
        return Plan(
            subjects: try subjects(),
            operations: Operation.allCases.filter(chosen.contains),
            sizes: chosenSizes,
            valueBytes: valueBytes.number,
            batch: batch.number,
            concurrency: concurrency.number,
            budget: repetitions.map { .calls($0.number) } ?? .time(time),
            durability: durability,
            seed: seed,
            isQuick: quick
        )
    }
}
