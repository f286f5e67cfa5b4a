/// A style of text on a terminal.
enum TextStyle: String, Sendable {
    /// Important.
    case bold = "1"
    /// Unimportant.
    case dim = "2"
    /// A problem or a removal.
    case red = "31"
    /// A success or an addition.
    case green = "32"
    /// A change or a warning.
    case yellow = "33"
}

/// When output is colored.
enum ColorChoice: String, CaseIterable, Sendable {
    /// On a terminal that supports colors, unless the environment disables them.
    case auto
    /// Always, even without a terminal.
    case always
    /// Never.
    case never
}

extension Console {
    /// Applies a style to text for the output, if the output is colored.
    func styled(_ text: String, _ style: TextStyle) -> String {
        isColored ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Text from a store, escaped if the output is a terminal.
    func shown(_ text: String) -> String { isOutputTerminal ? TerminalText.escaped(text) : text }
}
