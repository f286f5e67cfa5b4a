/// A line on a terminal that tells how far something has come. It shows nothing where there is no terminal.
package struct ProgressBar {
    private let console: Console
    private let isShown: Bool
    private var start: Double?
    private var lastDrawing: Double?

    /// How often, in seconds, the line is drawn anew.
    private static let interval = 0.1
    /// How wide the bar is, if there is room for it and the text beside it, without rate and remaining time.
    private static let widest = 30
    private static let textWidth = 30

    /// Creates a bar on standard error, which is not drawn yet.
    ///
    /// - Parameters:
    ///   - console: Where it is drawn, if that is a terminal.
    ///   - isQuiet: Whether the user wants none.
    package init(console: Console, isQuiet: Bool) {
        self.console = console
        self.isShown = console.isErrorTerminal && !isQuiet
    }

    /// Draws the bar, unless it was drawn a moment ago.
    ///
    /// - Parameters:
    ///   - items: How many items are done.
    ///   - done: How much of the work is done: bytes of the input, say.
    ///   - total: How much there is to do, `nil` if that isn't known.
    package mutating func update(items: Int, done: Int, of total: Int?) {
        guard isShown else { return }
        let now = console.clock()
        let start = start ?? now
        self.start = start
        if let lastDrawing, now - lastDrawing < Self.interval { return }
        lastDrawing = now
        draw(Self.line(items: items, done: done, of: total, seconds: now - start, columns: console.errorWidth))
    }

    /// Removes the bar, so that other text can take its place.
    package mutating func clear() {
        guard lastDrawing != nil else { return }
        lastDrawing = nil
        draw("")
    }

    private func draw(_ line: String) {
        do {
            // Back to the first column, and remove the rest of what was there.
            try console.errors.write("\r\(line)\u{1B}[K")
        } catch {
            // A bar that can't be drawn is no reason to stop the work that it tells about.
        }
    }

    /// The text of the bar: as much of it as there is room for.
    ///
    /// - Parameter seconds: How long it has been going on. Rate and remaining time come when there is something to judge by.
    static func line(items: Int, done: Int, of total: Int?, seconds: Double = 0, columns: Int? = nil) -> String {
        let columns = columns ?? .max
        let share = total.flatMap { $0 > 0 ? min(1, Double(done) / Double($0)) : nil }
        var line = "\(items) items"
        if let share {
            let width = min(widest, max(0, columns - textWidth))
            let filled = Int(share * Double(width))
            let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
            line = "\(bar) \(Int(share * 100)) %  \(line)"
        }
        var more: [String] = []
        if seconds >= 1, items > 0 { more.append("\(Int(Double(items) / seconds))/s") }
        if seconds >= 1, let share, share > 0 { more.append("\(duration(seconds * (1 - share) / share)) left") }
        // A line that is full would wrap on some terminals.
        for part in more where line.count + 2 + part.count < columns { line += "  " + part }
        return line
    }

    private static func duration(_ seconds: Double) -> String {
        // Too long to matter, and perhaps too large for an integer.
        guard seconds < 360_000 else { return "days" }
        let seconds = Int(seconds.rounded(.up))
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 600 { return "\(seconds / 60) min \(seconds % 60) s" }
        if seconds < 3600 { return "\(seconds / 60) min" }
        return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
    }
}
