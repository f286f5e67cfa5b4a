#if CommandLineTool
import ArgumentParser

/// `bodega help COMMAND…`.
enum HelpRequest {
    /// Checks that a request for help names a command. The parser shows the help of the tool otherwise, as if there
    /// were no mistake.
    ///
    /// - Throws: A ``ToolError`` if there is no such command.
    static func check(_ arguments: [String]) throws {
        guard arguments.first == "help" else { return }
        var commands = BodegaCommand.configuration.subcommands
        var known = "bodega help"
        for name in arguments.dropFirst() where !name.hasPrefix("-") {
            guard let command = commands.first(where: { $0.configuration.commandName == name }) else {
                throw ToolError(
                    .usage, "There is no command \"\(name)\" to help with. List the commands with: \(known)")
            }
            commands = command.configuration.subcommands
            known += " \(name)"
        }
    }

    /// The argument that the parser has taken for a request of help because there is an `h` in it, as in several short
    /// options together.
    ///
    /// - Returns: `nil` if help or the version was asked for.
    static func hidden(in arguments: [String]) -> String? {
        let options = arguments.prefix { $0 != "--" }
        if arguments.first == "help" || options.contains(where: ["-h", "--help", "--version"].contains) { return nil }
        return options.first { $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.contains("h") }
    }
}
#endif
