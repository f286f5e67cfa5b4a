#if CommandLineTool
import ArgumentParser
import Foundation

/// A command as the parser describes it for programs, as far as a manual shows it.
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

    /// The description of the tool.
    static func tool() throws -> CommandDescription {
        do {
            _ = try BodegaCommand.parseAsRoot(["--experimental-dump-help"])
        } catch {
            let json = Data(BodegaCommand.fullMessage(for: error).utf8)
            return try JSONDecoder().decode(Dump.self, from: json).command
        }
        throw ToolError(.failure, "The parser does not describe the commands.")
    }
}
#endif
