import Foundation

// Injects faults into a PostgreSQL cluster while stores use it, and checks the engine behind a pooler. `bin/chaos` runs
// this. In the child processes that it starts itself, the first argument is "load".

#if Postgres
import TestSupport

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "load" {
    try await LoadTask(Array(arguments.dropFirst())).run()
    exit(0)
}
do {
    let options = try Options(arguments)
    let keeper = try Keeper()
    let interruptions = [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            report("Ending all processes…")
            keeper.end()
            exit(128 + number)
        }
        source.activate()
        return source
    }
    var problems: [String] = []
    do {
        if options.bouncer { problems += try await BouncerRun(keeper: keeper).run() }
        if options.cluster { problems += try await ClusterRun(options, keeper).run() }
    } catch {
        problems.append("The run could not be finished: \(error)")
        if let folder = options.logs { try keeper.copyLogs(to: URL(fileURLWithPath: folder)) }
    }
    keeper.end()
    withExtendedLifetime(interruptions) {}
    for problem in problems { report("VIOLATION \(problem)") }
    report(problems.isEmpty ? "No violation." : "\(problems.count) violations.")
    exit(problems.isEmpty ? 0 : 1)
} catch let misuse as Options.Misuse {
    FileHandle.standardError.write(Data("chaos: \(misuse) Try --help.\n".utf8))
    exit(64)
}
#else
FileHandle.standardError.write(Data("PostgresChaos was built without the trait Postgres.\n".utf8))
exit(64)
#endif
