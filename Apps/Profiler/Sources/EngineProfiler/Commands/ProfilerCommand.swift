import ArgumentParser
import Foundation

/// The command `profiler`.
struct ProfilerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? "profiler",
        abstract: "Measures storage engines and stores on them, and reports the results.",
        discussion: """
            Examples:
              profiler run                     sqlite, disk and memory, into profile.html
              profiler run sqlite --sizes 1k,1M --operations read,write
              profiler run sqlite disk --store --json new.json
              profiler compare old.json new.json
              profiler render a.json b.json --html ab.html

            Exit status: 0 after success, 1 if compare --fail-above found an operation that is too slow, 2 if an \
            engine failed or a file could not be read or written, 64 for an invalid command line.
            """,
        subcommands: [RunCommand.self, CompareCommand.self, RenderCommand.self],
        defaultSubcommand: RunCommand.self
    )

    /// Runs the command line of the process and ends it.
    static func runProcess() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as ProfilerError {
            fail("\(error)")
        } catch let error as EngineFailure {
            fail("\(error)")
        } catch {
            exit(withError: error)
        }
    }

    /// Prints an error and ends the process.
    private static func fail(_ message: String) -> Never {
        let terminal = Terminal.standard(.standardError)
        terminal.write(terminal.styled("Error: ", .red) + Terminal.safe(message) + "\n")
        Foundation.exit(2)
    }
}
