import Bodega
import Foundation

/// The streams, terminal and clock that the tool uses. Tests replace them.
struct Console: Sendable {
    /// Standard input.
    var input: any ByteSource
    /// Standard output.
    var output: any ByteSink
    /// Standard error.
    var errors: any ByteSink
    var isInputTerminal = false
    var isOutputTerminal = false
    /// Whether standard error is a terminal, which can show a progress bar.
    var isErrorTerminal = false
    /// Whether errors are shown with their whole cause.
    var isVerbose = false
    /// Whether the output is colored.
    var isColored = false
    /// The number of columns of the output, `nil` if it is not a terminal.
    var width: Int?
    /// The number of columns of standard error, `nil` if it is not a terminal.
    var errorWidth: Int?
    /// The time in seconds since some fixed moment.
    var clock: @Sendable () -> Double
    /// Called when a command begins to wait for events.
    var onReady: @Sendable () -> Void = {}
    /// The variables of the environment.
    var environment: [String: String] = [:]
    /// Whether the command has been interrupted.
    var interruption = Interruption()

    /// The console of the process.
    static func standard() -> Console {
        let start = ContinuousClock.now
        var console = Console(
            input: DescriptorSource(descriptor: 0, name: "Standard input"),
            output: DescriptorSink(descriptor: 1, name: "Standard output"),
            errors: DescriptorSink(descriptor: 2, name: "Standard error"),
            clock: { (ContinuousClock.now - start) / .seconds(1) }
        )
        console.interruption = Interruption(hearsSignals: true)
        console.environment = ProcessInfo.processInfo.environment
        console.isInputTerminal = isatty(0) == 1
        console.isOutputTerminal = isatty(1) == 1
        console.isErrorTerminal = isatty(2) == 1
        let (noColor, terminal) = (console.environment["NO_COLOR"] ?? "", console.environment["TERM"] ?? "dumb")
        // See https://no-color.org.
        console.isColored = console.isOutputTerminal && noColor.isEmpty && terminal != "dumb"
        console.errorWidth = console.isErrorTerminal ? terminalWidth(2) : nil
        console.width = console.isOutputTerminal ? terminalWidth(1) : nil
        return console
    }

    /// The text of an error, in the detail that the user chose.
    func text(of error: StorageError) -> String { isVerbose ? error.description : error.summary }

    /// The text of an error with a full stop at the end.
    func sentence(of error: StorageError) -> String {
        let text = text(of: error)
        return text.hasSuffix(".") ? text : text + "."
    }

    /// Writes a message to standard error.
    ///
    /// - Parameter message: One or more lines, without a line end.
    func complain(_ message: String) {
        show("bodega: \(TerminalText.escaped(message, keepingNewlines: true))\n")
    }

    /// Writes text to standard error, if that is possible.
    func show(_ text: String) {
        // Standard error is the last resort; the exit status still reports the failure of the command.
        do { try errors.write(text) } catch {}
    }
}
