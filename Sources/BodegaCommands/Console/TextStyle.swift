/// How text stands out on a terminal.
package enum TextStyle: String, Sendable {
    /// Important.
    case bold = "1"
    /// Unimportant.
    case dim = "2"
    /// Bad, or gone.
    case red = "31"
    /// Good, or new.
    case green = "32"
    /// Different, or doubtful.
    case yellow = "33"
    /// A name.
    case cyan = "36"
}

/// Whether text stands out.
package enum ColorChoice: String, CaseIterable, Sendable {
    /// On a terminal that can show it, unless the environment says otherwise.
    case auto
    /// Also where there is no terminal.
    case always
    /// Nowhere.
    case never
}

extension Console {
    /// Makes text for the output stand out, if the output shows that.
    package func styled(_ text: String, _ style: TextStyle) -> String {
        isColored ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Text from a store, without what a terminal would obey if the output is one.
    package func shown(_ text: String) -> String {
        isOutputTerminal ? TerminalText.escaped(text) : text
    }

    /// Whether the output is coloured when the user has not chosen.
    ///
    /// `NO_COLOR` is as in https://no-color.org: set to anything but the empty text, it means no.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether a human reads the output.
    ///   - environment: The variables of the environment.
    package static func prefersColor(isTerminal: Bool, environment: [String: String]) -> Bool {
        isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM", default: "dumb"] != "dumb"
    }
}
