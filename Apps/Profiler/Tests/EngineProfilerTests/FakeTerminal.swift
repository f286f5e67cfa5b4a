import Foundation

@testable import EngineProfiler

/// A terminal that records its output.
final class FakeTerminal: @unchecked Sendable {
    // @unchecked because the lock guards all mutable state.
    private let lock = NSLock()
    private var written: [String] = []
    private let canRedraw: Bool
    private let hasColor: Bool
    private let columns: Int

    init(canRedraw: Bool = false, hasColor: Bool = false, columns: Int = 80) {
        self.canRedraw = canRedraw
        self.hasColor = hasColor
        self.columns = columns
    }

    /// The terminal for the program.
    var terminal: Terminal {
        let columns = columns
        return Terminal(
            write: { text in self.lock.withLock { self.written.append(text) } },
            canRedraw: canRedraw, hasColor: hasColor, columns: { columns })
    }

    /// The whole output.
    var text: String { lock.withLock { written.joined() } }

    /// The final screen, as lines without trailing spaces, and whether the cursor is visible.
    ///
    /// It interprets the control sequences of ``LiveView``; others remain as text.
    var screen: (lines: [String], isCursorShown: Bool) {
        var lines: [[Character]] = [[]]
        var row = 0
        var column = 0
        var isCursorShown = true
        var rest = Array(text.unicodeScalars)[...]
        func sequence(_ ending: String) -> Bool {
            let scalars = Array(("\u{1B}[" + ending).unicodeScalars)
            guard rest.starts(with: scalars) else { return false }
            rest = rest.dropFirst(scalars.count)
            return true
        }
        while let scalar = rest.first {
            if sequence("?25l") {
                isCursorShown = false
            } else if sequence("?25h") {
                isCursorShown = true
            } else if sequence("1A") {
                row = max(0, row - 1)
            } else if sequence("J") {
                lines[row] = Array(lines[row].prefix(column))
                lines.removeSubrange((row + 1)...)
            } else {
                rest = rest.dropFirst()
                switch scalar {
                case "\n":
                    row += 1
                    column = 0
                    while lines.count <= row { lines.append([]) }
                case "\r":
                    column = 0
                default:
                    while lines[row].count <= column { lines[row].append(" ") }
                    lines[row][column] = Character(scalar)
                    column += 1
                }
            }
        }
        return (lines.map { String($0) }, isCursorShown)
    }
}
