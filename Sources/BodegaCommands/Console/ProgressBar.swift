/// A line on a terminal that shows progress. Without a terminal it shows nothing.
struct ProgressBar {
    private let console: Console
    private let isShown: Bool
    private var start: Double?
    private var lastDrawing: Double?

    /// The minimum number of seconds between two drawings.
    private static let interval = 0.1
    /// The maximum width of the bar, and the width reserved for the text beside it, without rate and remaining time.
    private static let widest = 30
    private static let textWidth = 30

    /// Creates a bar on standard error, which is not drawn yet, and hidden if that is no terminal.
    init(console: Console, isQuiet: Bool) {
        self.console = console
        self.isShown = console.isErrorTerminal && !isQuiet
    }

    /// Draws the bar, unless it was drawn less than 0.1 seconds ago.
    ///
    /// - Parameters:
    ///   - items: The number of items done.
    ///   - done: The amount of work done, in bytes of the input, for example.
    ///   - total: The total amount of work, `nil` if it is unknown.
    mutating func update(items: Int, done: Int, of total: Int?) {
        guard isShown else { return }
        let now = console.clock()
        let start = start ?? now
        self.start = start
        if let lastDrawing, now - lastDrawing < Self.interval { return }
        lastDrawing = now
        draw(Self.line(items: items, done: done, of: total, seconds: now - start, columns: console.errorWidth))
    }

    /// Removes the bar, so that other text can take its place.
    mutating func clear() {
        guard lastDrawing != nil else { return }
        lastDrawing = nil
        draw("")
    }

    private func draw(_ line: String) {
        // Return to the first column, and erase the rest of the line.
        console.show("\r\(line)\u{1B}[K")
    }

    /// The text of the bar, shortened to the width of the terminal.
    ///
    /// - Parameter seconds: The elapsed time. Rate and remaining time are shown from the first second on.
    static func line(items: Int, done: Int, of total: Int?, seconds: Double = 0, columns: Int? = nil) -> String {
        let columns = columns ?? .max
        let share = total.flatMap { $0 > 0 ? min(1, Double(done) / Double($0)) : nil }
        var line = Counted.text(items, "item")
        if let share {
            let width = min(widest, max(0, columns - textWidth))
            let filled = Int(share * Double(width))
            let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
            line = "\(bar) \(Int(share * 100)) %  \(line)"
        }
        var more: [String] = []
        if seconds >= 1, items > 0 { more.append("\(Int(Double(items) / seconds))/s") }
        if seconds >= 1, let share, share > 0 { more.append("\(duration(seconds * (1 - share) / share)) left") }
        // A line as wide as the terminal would wrap on some terminals.
        for part in more where line.count + 2 + part.count < columns { line += "  " + part }
        return line
    }

    private static func duration(_ seconds: Double) -> String {
        // Larger values might not fit into an integer.
        guard seconds < 360_000 else { return "days" }
        let seconds = Int(seconds.rounded(.up))
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 600 { return "\(seconds / 60) min \(seconds % 60) s" }
        if seconds < 3600 { return "\(seconds / 60) min" }
        return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
    }
}
