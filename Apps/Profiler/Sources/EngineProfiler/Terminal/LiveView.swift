import Foundation

/// Shows the progress of a run. On a terminal these are two lines that are redrawn below the measurements so far;
/// otherwise one line for each measurement.
final class LiveView: @unchecked Sendable {
    // @unchecked because the lock guards all mutable state.
    private let lock = NSLock()
    private let terminal: Terminal
    private let total: Int
    private let nameWidth: Int
    private let now: @Sendable () -> Double
    private var done = 0
    private var drawnLines = 0
    private var lastDrawing = -Double.infinity
    private var isClosed = false

    /// The minimum interval between redraws, in seconds.
    private static let interval = 0.1

    /// Creates a view.
    ///
    /// - Parameters:
    ///   - terminal: The terminal.
    ///   - total: The number of measurements of the run.
    ///   - names: The names of the engines.
    ///   - now: The time in seconds since the run began.
    init(_ terminal: Terminal, total: Int, names: [String], now: @escaping @Sendable () -> Double) {
        self.terminal = terminal
        self.total = total
        self.now = now
        nameWidth = min(24, names.map { Terminal.safe($0).count }.max() ?? 0)
    }

    /// Shows an event.
    func show(_ event: ProgressEvent) {
        lock.withLock {
            guard !isClosed else { return }
            switch event {
            case .filling(let engine, let items, let done):
                draw(
                    "\(Terminal.safe(engine)) · writing \(Quantity.whole(items)) items · \(Quantity.whole(done)) so far"
                )
            case .measuring(let engine, let items, let operation, let latencies):
                var text = "\(Terminal.safe(engine)) · \(Quantity.whole(items)) items · \(operation.rawValue)"
                if latencies.count == 0 {
                    // The beginning of an operation is drawn immediately, because the next event may be late.
                    lastDrawing = -.infinity
                } else {
                    text += " · \(Quantity.whole(latencies.count)) calls"
                    text += " · p50 \(Quantity.time(latencies.percentile(50)))"
                    text += " · p99 \(Quantity.time(latencies.percentile(99)))"
                }
                draw(text)
            case .measured(let engine, let items, let measurement):
                done += 1
                clear()
                terminal.write(fitted(line(engine, items, measurement)) + "\n")
            }
        }
    }

    /// Removes the redrawn lines and shows the cursor. Later events are ignored.
    func close() {
        lock.withLock {
            isClosed = true
            clear()
            if terminal.canRedraw { terminal.write("\u{1B}[?25h") }
        }
    }

    /// The permanent line of a measurement.
    private func line(_ engine: String, _ items: Int, _ measurement: OperationResult) -> String {
        let name = String(Terminal.safe(engine).suffix(nameWidth)).padded(toRight: nameWidth)
        return [
            name,
            Quantity.whole(items).padded(toLeft: 9),
            measurement.operation.padded(toRight: 18),
            "p50 \(Quantity.time(measurement.latency.p50).padded(toLeft: 7))",
            "p99 \(Quantity.time(measurement.latency.p99).padded(toLeft: 7))",
            "\(Quantity.short(measurement.itemsPerSecond).padded(toLeft: 6)) items/s",
        ].joined(separator: "  ")
    }

    /// Draws the progress of the run and the current operation.
    private func draw(_ activity: String) {
        guard terminal.canRedraw, now() - lastDrawing >= Self.interval else { return }
        clear()
        lastDrawing = now()
        let share = total == 0 ? 1 : Double(done) / Double(total)
        let filled = Int(share * 30)
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
        let seconds = Int(now())
        let time = String(format: "%d:%02d", seconds / 60, seconds % 60)
        let progress = fitted("\(bar) \(Int(share * 100)) %  \(done) of \(total)  \(time)")
        let lines = [terminal.styled(progress, .cyan), fitted(activity)]
        // The cursor is hidden while lines change.
        terminal.write("\u{1B}[?25l" + lines.joined(separator: "\n") + "\r")
        drawnLines = lines.count
    }

    private func clear() {
        guard drawnLines > 0 else { return }
        // Moves to the first line and clears everything from there on.
        terminal.write("\r" + (drawnLines > 1 ? "\u{1B}[\(drawnLines - 1)A" : "") + "\u{1B}[J")
        drawnLines = 0
        lastDrawing = -.infinity
    }

    /// Truncates a line to the width of the terminal. A wrapped line would move the redrawn lines.
    private func fitted(_ line: String) -> String {
        guard terminal.canRedraw else { return line }
        let columns = max(10, terminal.columns() - 1)
        return line.count <= columns ? line : line.prefix(columns - 1) + "…"
    }
}
