/// A line on a terminal that tells how far something has come. It shows nothing where there is no terminal.
package struct ProgressBar {
    private let console: Console
    private let isShown: Bool
    private var lastDrawing: Double?

    /// How often, in seconds, the line is drawn anew.
    private static let interval = 0.1
    /// How wide the bar is, if there is room for it and the text beside it.
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
        if let lastDrawing, now - lastDrawing < Self.interval { return }
        lastDrawing = now
        draw(Self.line(items: items, done: done, of: total, columns: console.errorWidth))
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

    static func line(items: Int, done: Int, of total: Int?, columns: Int? = nil) -> String {
        let count = "\(items) items"
        guard let total, total > 0 else { return count }
        let share = min(1, Double(done) / Double(total))
        let width = min(widest, max(0, (columns ?? .max) - textWidth))
        let filled = Int(share * Double(width))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        return "\(bar) \(Int(share * 100)) %  \(count)"
    }
}
