import Foundation

/// Shows how a run goes: on a terminal two lines that are drawn anew, below the measurements so far; elsewhere a line
/// for each measurement.
final class LiveView: @unchecked Sendable {
    // Unchecked because the lock guards all that changes.
    private let lock = NSLock()
    private let terminal: Terminal
    private let total: Int
    private let nameWidth: Int
    private let now: @Sendable () -> Double
    private var done = 0
    private var drawnLines = 0
    private var lastDrawing = -Double.infinity
    private var isClosed = false

    /// How often, in seconds, the lines are drawn anew.
    private static let interval = 0.1

    /// Prepares a view.
    ///
    /// - Parameters:
    ///   - terminal: Where it is shown.
    ///   - total: How many measurements there will be.
    ///   - names: The names of the engines.
    ///   - now: The time in seconds since the run began.
    init(_ terminal: Terminal, total: Int, names: [String], now: @escaping @Sendable () -> Double) {
        self.terminal = terminal
        self.total = total
        self.now = now
        nameWidth = min(24, names.map { Terminal.safe($0).count }.max() ?? 0)
    }

    /// Shows what happened.
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
                    // What begins is drawn at once, as nothing may follow for long.
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

    /// Removes what is drawn and gives the cursor back. Nothing is shown any more.
    func close() {
        lock.withLock {
            isClosed = true
            clear()
            if terminal.canRedraw { terminal.write("\u{1B}[?25h") }
        }
    }

    /// The line that stays of a measurement.
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

    /// Draws the progress of the whole and what is going on.
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
        // The cursor stands still while lines change above it.
        terminal.write("\u{1B}[?25l" + lines.joined(separator: "\n") + "\r")
        drawnLines = lines.count
    }

    private func clear() {
        guard drawnLines > 0 else { return }
        // To the first of the lines, and remove everything from there on.
        terminal.write("\r" + (drawnLines > 1 ? "\u{1B}[\(drawnLines - 1)A" : "") + "\u{1B}[J")
        drawnLines = 0
        lastDrawing = -.infinity
    }

    /// Cuts a line off so that a terminal does not break it, which would put what is drawn anew in the wrong place.
    private func fitted(_ line: String) -> String {
        guard terminal.canRedraw else { return line }
        let columns = max(10, terminal.columns() - 1)
        return line.count <= columns ? line : line.prefix(columns - 1) + "…"
    }
}
