#if CommandLineTool
import ArgumentParser

/// `bodega manual`.
struct ManualCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Print the manual page, for man.",
        discussion: """
            The page is generated from the definitions of the commands.

            EXAMPLES:
              bodega manual > /usr/local/share/man/man1/bodega.1
              bodega manual | man -l -
            """)

    func run(on console: Console) async throws {
        try console.output.write(try ManualPage.text(of: BodegaCommand.self))
    }
}
#endif
