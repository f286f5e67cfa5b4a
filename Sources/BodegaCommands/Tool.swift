import Foundation

/// The command-line tool `bodega`.
package enum Tool {

    /// Runs the tool with the arguments of the process, and ends the process.
    package static func main() async -> Never {
        // A write to a closed pipe then fails with EPIPE instead of ending the program.
        _ = signal(SIGPIPE, SIG_IGN)
        let console = Console.standard()
        let status: Int32
        do {
            status = await run(try ArgumentText.decoded(systemArguments().dropFirst()), console: console)
        } catch {
            console.complain("\(error)")
            status = ExitStatus.usage.rawValue
        }
        exit(status)
    }
}

#if !CommandLineTool
extension Tool {
    /// Explains how to build the tool with its commands.
    ///
    /// - Returns: The exit status of a failure.
    static func run(_ arguments: [String], console: Console) async -> Int32 {
        console.complain(
            """
            this build has no commands, because they need the package trait CommandLineTool.
            Build it with: swift build --traits CommandLineTool
            """)
        return ExitStatus.failure.rawValue
    }
}
#endif
