/// Texts that engines confuse, truncate or refuse, as keys and as names of collections.
///
/// Any two of them differ in their bytes. Adjacent texts are similar: they are two spellings of one text, or a program
/// that ends a text at a NUL, or joins a combining character to the preceding one, confuses them.
public enum HostileTexts {

    /// All texts, including the empty one.
    public static let all: [String] =
        [
            "\u{301}\0caf\u{e9}", "\u{301}\0cafe\u{301}", "\u{301}\0", "\u{301}", "b\0a", "b", "b\0", "", "\0",
            "50%\u{301}", "50%", "#\u{301}", "#", "%23", "\u{20E3}", "a#\u{FE0F}\u{20E3}", "@\u{301}", "//\u{301}",
            "\u{212B}", "\u{C5}", "\u{1100}\u{1161}", "\u{AC00}", "\r\n", "\r", "\n",
            "👩‍👩‍👧", "👩👩👧", "\u{200D}👧", "\u{FEFF}b", "\u{202E}b", "\u{10FFFF}", "'; DROP TABLE data; --",
        ] + long

    /// Texts of 10 kB that differ only in their last character.
    private static let long = ["\u{e9}", "e\u{301}", "\0", "\0\u{301}"].map {
        String(repeating: "x", count: 10_000) + $0
    }
}
