package import Bodega
import Foundation

/// What the tool sees of the world around it, apart from files. Tests put their own in its place.
package struct Console: Sendable {
    /// Standard input.
    package var input: any ByteSource
    /// Standard output.
    package var output: any ByteSink
    /// Standard error.
    package var errors: any ByteSink
    /// Whether a human types the input.
    package var isInputTerminal: Bool
    /// Whether a human reads the output.
    package var isOutputTerminal: Bool
    /// Whether a human reads the errors, so that a progress bar makes sense.
    package var isErrorTerminal: Bool
    /// Whether errors are shown with all that is known about their cause.
    package var isVerbose = false
    /// Whether the output is coloured.
    package var isColored: Bool
    /// How many columns the output has, `nil` if it is no terminal.
    package var width: Int?
    /// How many columns the terminal has that shows the errors, `nil` if none does.
    package var errorWidth: Int?
    /// The time in seconds since some fixed moment.
    package var clock: @Sendable () -> Double
    /// Called when a command that waits for something has begun to wait.
    package var onReady: @Sendable () -> Void = {}
    /// Whether the user wants the command to end.
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
        console.isInputTerminal = isTerminal(0)
        console.isOutputTerminal = isTerminal(1)
        console.isErrorTerminal = isTerminal(2)
        console.isColored = prefersColor(
            isTerminal: console.isOutputTerminal,
            environment: ProcessInfo.processInfo.environment
        )
        console.errorWidth = console.isErrorTerminal ? terminalWidth(2) : nil
        console.width = console.isOutputTerminal ? terminalWidth(1) : nil
        return console
    }

    /// An error as the user wants it.
    package func text(of error: StorageError) -> String {
        isVerbose ? error.description : error.summary
    }

    /// Tells the user something that does not belong to the output.
    ///
    /// - Parameter message: One or more lines, without a line end.
    package func complain(_ message: String) {
        do {
            try errors.write("bodega: \(TerminalText.escaped(message, keepingNewlines: true))\n")
        } catch {
            // There is nowhere left to say it; the exit status still does.
        }
    }
}
