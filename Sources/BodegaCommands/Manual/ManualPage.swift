#if CommandLineTool
import ArgumentParser
import Foundation

/// The manual page bodega(1), made from the definitions of the commands, in the markup of man(7).
enum ManualPage {

    /// Makes the page of a tool.
    static func text(of tool: any ParsableCommand.Type) throws -> String {
        let tool = try CommandDescription(of: tool)
        var page = [
            #".\" Made by "bodega manual" from the definitions of the commands. Don't edit it."#,
            #".TH BODEGA 1 "" "Emporium" "User Commands""#,
            ".SH NAME",
            #"bodega \- \#(escaped(lowercasedStart(tool.abstract ?? "")))"#,
            ".SH SYNOPSIS",
        ]
        let commands = commands(of: tool)
        for command in commands {
            page += [#"\fBbodega \#(escaped(command.commandName))\fR \#(synopsis(command))"#, ".br"]
        }
        page.append(".SH DESCRIPTION")
        let (description, rest) = sections(of: tool.discussion ?? "")
        page += paragraphs(description)
        page.append(".SH COMMANDS")
        for command in (tool.subcommands ?? []) where isShown(command) {
            page += describe(command)
            for nested in self.commands(of: command) { page += describe(nested, in: command.commandName) }
        }
        for (title, text) in rest { page += [".SH \(escaped(title))"] + verbatim(text) }
        return page.joined(separator: "\n") + "\n"
    }

    /// The commands of a tool. Of a command that only has commands itself, these, with both names.
    private static func commands(of tool: CommandDescription) -> [CommandDescription] {
        let shown = (tool.subcommands ?? []).filter(isShown)
        return shown.flatMap { command in
            let nested = commands(of: command).map { nested in
                var nested = nested
                nested.commandName = "\(command.commandName) \(nested.commandName)"
                return nested
            }
            return nested.isEmpty ? [command] : nested
        }
    }

    private static func isShown(_ command: CommandDescription) -> Bool {
        command.shouldDisplay != false && command.commandName != "help"
    }

    private static func describe(_ command: CommandDescription, in group: String? = nil) -> [String] {
        let name = (group.map { "\($0) " } ?? "") + command.commandName
        let (description, rest) = sections(of: command.discussion ?? "")
        var lines = [".SS bodega \(escaped(name))", escaped(command.abstract ?? "")]
        lines += description.isEmpty ? [] : [".PP"] + paragraphs(description)
        for argument in command.arguments ?? [] where argument.shouldDisplay && argument.preferredName?.name != "help" {
            if argument.preferredName?.name == "version" { continue }
            lines += [".TP", "\\fB\(escaped(head(argument)))\\fR", escaped(explanation(argument))]
        }
        for (title, text) in rest { lines += [".PP", "\(escaped(title.capitalized)):"] + verbatim(text) }
        return lines
    }

    private static func synopsis(_ command: CommandDescription) -> String {
        let arguments = (command.arguments ?? []).filter { $0.shouldDisplay && $0.kind == "positional" }
        let names = arguments.map { argument in
            let name = #"\fI\#(escaped(argument.valueName ?? ""))\fR\#(argument.isRepeating ? " ..." : "")"#
            return argument.isOptional ? "[\(name)]" : name
        }
        return (names + ["[options]"]).joined(separator: " ")
    }

    private static func head(_ argument: CommandDescription.Argument) -> String {
        let value = "<\(argument.valueName ?? "value")>"
        if argument.kind == "positional" { return value }
        let names = (argument.names ?? []).map(\.spelled).joined(separator: ", ")
        return argument.kind == "option" ? "\(names) \(value)" : names
    }

    private static func explanation(_ argument: CommandDescription.Argument) -> String {
        var text = argument.abstract ?? ""
        if let values = argument.allValues, !values.isEmpty { text += " (values: \(values.joined(separator: ", ")))" }
        if let value = argument.defaultValue, argument.kind == "option" { text += " (default: \(value))" }
        return text
    }

    /// Splits a text at its headings, which are lines in capitals that end with a colon.
    private static func sections(of text: String) -> (description: String, rest: [(title: String, text: String)]) {
        var description = ""
        var rest: [(title: String, text: String)] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasSuffix(":"), line == line.uppercased(), line.count > 2 {
                rest.append((String(line.dropLast()), ""))
            } else if rest.isEmpty {
                description += line + "\n"
            } else {
                rest[rest.count - 1].text += line + "\n"
            }
        }
        return (description, rest)
    }

    private static func paragraphs(_ text: String) -> [String] {
        var lines: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if !line.isEmpty {
                lines.append(escaped(String(line)))
            } else if let last = lines.last, last != ".PP" {
                lines.append(".PP")
            }
        }
        while lines.last == ".PP" { lines.removeLast() }
        return lines
    }

    private static func verbatim(_ text: String) -> [String] {
        let lines = text.split(separator: "\n").map { line in escaped(String(line)) }
        return [".PP", ".nf", ".RS"] + lines + [".RE", ".fi"]
    }

    /// Escapes what troff would interpret.
    private static func escaped(_ text: String) -> String {
        let escaped = text.replacingOccurrences(of: "\\", with: "\\e").replacingOccurrences(of: "-", with: "\\-")
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    private static func lowercasedStart(_ text: String) -> String {
        let text = text.hasSuffix(".") ? String(text.dropLast()) : text
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
#endif
