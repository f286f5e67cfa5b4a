#if CommandLineTool
import ArgumentParser
import Foundation

/// A command as the parser describes it in JSON, reduced to what a manual page shows.
///
/// The form is that of swift-argument-parser's `--experimental-dump-help`.
struct CommandDescription: Decodable {
    var commandName: String
    var abstract: String?
    var discussion: String?
    var shouldDisplay: Bool?
    var subcommands: [CommandDescription]?
    var arguments: [Argument]?

    /// An argument, option or flag.
    struct Argument: Decodable {
        var kind: String
        var shouldDisplay: Bool
        var isOptional: Bool
        var isRepeating: Bool
        var names: [Name]?
        var preferredName: Name?
        var valueName: String?
        var defaultValue: String?
        var allValues: [String]?
        var abstract: String?
    }

    /// The name of an option.
    struct Name: Decodable {
        var kind: String
        var name: String

        /// The name with its hyphens.
        var spelled: String { (kind == "long" ? "--" : "-") + name }
    }

    private struct Dump: Decodable {
        var command: CommandDescription
    }

    /// Describes a command with its subcommands.
    init(of command: any ParsableCommand.Type) throws {
        do {
            _ = try command.parseAsRoot(["--experimental-dump-help"])
        } catch {
            let json = Data(command.fullMessage(for: error).utf8)
            self = try JSONDecoder().decode(Dump.self, from: json).command
            return
        }
        throw ToolError(.failure, "The commands have no description to make a manual page from.")
    }
}
#endif
