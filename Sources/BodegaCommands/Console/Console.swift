package import Bodega
import Foundation

/// The streams, terminal and clock that the tool uses. Tests replace them.
package struct Console: Sendable {
    /// Standard input.
    package var input: any ByteSource
    /// Standard output.
    package var output: any ByteSink
    /// Standard error.
    package var errors: any ByteSink
    /// Whether the input is a terminal.
    package var isInputTerminal: Bool
    /// Whether the output is a terminal.
    package var isOutputTerminal: Bool
    /// Whether standard error is a terminal, which can show a progress bar.
    package var isErrorTerminal: Bool
    /// Whether errors are shown with their whole cause.
    package var isVerbose = false
    /// Whether the output is colored.
    package var isColored: Bool
    /// The number of columns of the output, `nil` if it is not a terminal.
    package var width: Int?
    /// The number of columns of standard error, `nil` if it is not a terminal.
    package var errorWidth: Int?
    /// The time in seconds since some fixed moment.
    package var clock: @Sendable () -> Double
    /// Called when a command begins to wait for events.
    package var onReady: @Sendable () -> Void = {}
    /// The variables of the environment.
    package var environment: [String: String] = [:]
    /// Whether the command has been interrupted.
    package var interruption = Interruption()

    /// Creates a console that is not a terminal.
    ///
    /// - Parameters:
    ///   - input: Standard input.
    ///   - output: Standard output.
    ///   - errors: Standard error.
    ///   - clock: The time in seconds since some fixed moment.
    package init(
        input: any ByteSource,
        output: any ByteSink,
        errors: any ByteSink,
        clock: @escaping @Sendable () -> Double
    ) {
        self.input = input
        self.output = output
        self.errors = errors
        self.isInputTerminal = false
        self.isOutputTerminal = false
        self.isErrorTerminal = false
        self.isColored = false
        self.clock = clock
    }

    /// The console of the process.
    package static func standard() -> Console {
        let start = ContinuousClock.now
        var console = Console(
            input: DescriptorSource(descriptor: 0, name: "Standard input"),
            output: DescriptorSink(descriptor: 1, name: "Standard output"),
            errors: DescriptorSink(descriptor: 2, name: "Standard error"),
            clock: { (ContinuousClock.now - start) / .seconds(1) }
        )
        console.interruption = Interruption(hearsSignals: true)
        console.environment = ProcessInfo.processInfo.environment
        console.isInputTerminal = isTerminal(0)
        console.isOutputTerminal = isTerminal(1)
        console.isErrorTerminal = isTerminal(2)
        console.isColored = prefersColor(
            isTerminal: console.isOutputTerminal,
            environment: console.environment
        )
        console.errorWidth = console.isErrorTerminal ? terminalWidth(2) : nil
        console.width = console.isOutputTerminal ? terminalWidth(1) : nil
        return console
    }

    /// The text of an error, in the detail that the user chose.
    package func text(of error: StorageError) -> String {
        isVerbose ? error.description : error.summary
    }

    /// Writes a message to standard error.
    ///
    /// - Parameter message: One or more lines, without a line end.
    package func complain(_ message: String) {
        do {
            try errors.write("bodega: \(TerminalText.escaped(message, keepingNewlines: true))\n")
        } catch {
            // Standard error is the last resort; the exit status still reports the failure.
        }
    }
}
