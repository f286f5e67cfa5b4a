import Foundation

/// An output for people and its capabilities.
struct Terminal: Sendable {
    /// Writes text without buffering.
    var write: @Sendable (String) -> Void
    /// Whether lines can be redrawn.
    var canRedraw: Bool
    /// Whether to use colors.
    var hasColor: Bool
    /// The number of columns.
    var columns: @Sendable () -> Int

    /// Standard output or standard error of the process.
    ///
    /// Colors follow https://no-color.org.
    static func standard(_ file: FileHandle) -> Terminal {
        let environment = ProcessInfo.processInfo.environment
        let descriptor = file.fileDescriptor
        let canRedraw = isatty(descriptor) == 1 && environment["TERM"] != "dumb"
        return Terminal(
            write: { text in
                do {
                    try file.write(contentsOf: Data(text.utf8))
                } catch {
                    // The reader has closed the pipe. The run continues, because the results go to files.
                }
            },
            canRedraw: canRedraw,
            hasColor: canRedraw && (environment["NO_COLOR"] ?? "").isEmpty,
            columns: {
                var size = winsize()
                guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
                return Int(size.ws_col)
            }
        )
    }

    /// The text styles.
    enum Style: String {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case cyan = "36"
    }

    /// Applies a style if colors are used.
    func styled(_ text: String, _ style: Style) -> String {
        hasColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Makes a name safe to show: control characters, which a terminal would interpret, become `?`.
    static func safe(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
    }
}

extension String {
    /// The text with leading spaces up to a width.
    func padded(toLeft width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }

    /// The text with trailing spaces up to a width.
    func padded(toRight width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
