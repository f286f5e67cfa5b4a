#if CommandLineTool
import ArgumentParser
import Bodega
import Foundation

extension Tool {

    /// Runs the tool with arguments that don't include the name of the program.
    ///
    /// - Returns: The exit status, see ``ExitStatus``.
    static func run(_ arguments: [String], console: Console) async -> Int32 {
        var console = console
        console.isVerbose = arguments.prefix { $0 != "--" }.contains("--verbose")
        do {
            try HelpRequest.check(arguments)
            if console.isOutputTerminal, isJSONRequested(by: arguments) {
                console.output = JSONTerminalSink(console.output)
            }
            let (parsed, keys) = KeyList.split(arguments)
            var command = try BodegaCommand.parseAsRoot(Array(parsed))
            if var command = command as? any KeyListCommand {
                command.key += keys
                try await command.run(on: console)
            } else if let command = command as? any ConsoleCommand {
                try await command.run(on: console)
            } else {
                try command.run()
            }
            return ExitStatus.success.rawValue
        } catch {
            console.errors = RedactingSink(console.errors, arguments)
            return report(error, arguments, on: console).rawValue
        }
    }

    /// Whether all output of a call is JSON.
    private static func isJSONRequested(by arguments: [String]) -> Bool {
        // The arguments after -- are no options.
        arguments.first == "export" || arguments.prefix { $0 != "--" }.contains("--json")
    }

    private static func report(_ error: any Error, _ arguments: [String], on console: Console) -> ExitStatus {
        switch error {
        case is BrokenPipe:
            return .brokenPipe
        case let error as SilentFailure:
            return error.status
        case let error as ToolError:
            console.complain(error.message)
            return error.status
        case let error as StorageError:
            console.complain(console.text(of: error))
            return .failure
        case is CancellationError:
            console.complain("The operation was cancelled.")
            return .failure
        case let error as CocoaError:
            let path = error.filePath ?? error.url?.path
            console.complain("\(path.map { "\($0): " } ?? "")\(error.localizedDescription)")
            return .failure
        default:
            return reportParsing(error, arguments, on: console)
        }
    }

    /// Shows the messages that the parser throws: the help, the version, and errors in the arguments.
    private static func reportParsing(_ error: any Error, _ arguments: [String], on console: Console) -> ExitStatus {
        let isSuccess = BodegaCommand.exitCode(for: error) == .success
        if isSuccess, let argument = HelpRequest.hidden(in: arguments) {
            console.complain(
                """
                Unknown option '\(argument)'. Write -- before the first key that begins with a dash, and ./ before \
                such a path.
                """)
            return .usage
        }
        let text = BodegaCommand.fullMessage(for: error)
        var message = UsageText.wrapped(DashedValue.advice(for: text, arguments) ?? text)
        if isSuccess {
            do {
                try console.output.write(message + "\n")
                return .success
            } catch {
                return report(error, arguments, on: console)
            }
        }
        if message.hasPrefix("Error: ") { message.removeFirst("Error: ".count) }
        console.complain(message)
        return BodegaCommand.exitCode(for: error) == .validationFailure ? .usage : .failure
    }
}

/// Writes texts without arguments that may be addresses with passwords, because parser errors quote them.
private final class RedactingSink: ByteSink {
    private let sink: any ByteSink
    private let secrets: [String]

    init(_ sink: any ByteSink, _ arguments: [String]) {
        self.sink = sink
        secrets = arguments.flatMap(Self.secrets)
    }

    /// The parts of an argument that messages must not contain, the longest first.
    private static func secrets(in argument: String) -> [String] {
        var texts = [argument]
        // The parser quotes the value of an option without its name.
        if argument.hasPrefix("-"), let mark = argument.utf8.firstIndex(of: UInt8(ascii: "=")) {
            let value = String(argument[argument.utf8.index(after: mark)...])
            if !value.isEmpty { texts.append(value) }
        }
        return texts.contains(where: holdsSecret) ? texts : []
    }

    private static func holdsSecret(_ text: String) -> Bool {
        guard StorageAddress.mayHoldSecret(text) else { return false }
        do {
            // An address leaves out its password.
            return try StorageAddress(parsing: text).description != text
        } catch {
            return true
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        if secrets.isEmpty { return try sink.write(bytes) }
        let text = secrets.flatMap { [$0, TerminalText.escaped($0, keepingNewlines: true)] }
            .reduce(String(decoding: bytes, as: UTF8.self)) { $0.replacingOccurrences(of: $1, with: "•••") }
        try sink.write(text)
    }
}
#endif
