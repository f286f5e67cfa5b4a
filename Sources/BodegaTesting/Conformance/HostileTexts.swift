/// Texts that engines confuse, cut or refuse, as keys and as names of collections.
///
/// Any two of them differ in their bytes. Neighbours are alike: they are two spellings of one text, or one of them is what
/// a program makes of the other that takes a NUL for the end, or a combining character for a part of what is before it.
public enum HostileTexts {

    /// All of them, the empty one included.
    public static let all: [String] =
        [
            "\u{301}\0caf\u{e9}", "\u{301}\0cafe\u{301}", "\u{301}\0", "\u{301}", "b\0a", "b", "b\0", "", "\0",
            "50%\u{301}", "50%", "#\u{301}", "#", "%23", "\u{20E3}", "a#\u{FE0F}\u{20E3}", "@\u{301}", "//\u{301}",
            "\u{212B}", "\u{C5}", "\u{1100}\u{1161}", "\u{AC00}", "\r\n", "\r", "\n",
            "👩‍👩‍👧", "👩👩👧", "\u{200D}👧", "\u{FEFF}b", "\u{202E}b", "\u{10FFFF}", "'; DROP TABLE data; --",
        ] + long

    /// Texts of 10 kB that differ in their last character only.
    private static let long = ["\u{e9}", "e\u{301}", "\0", "\0\u{301}"].map {
        String(repeating: "x", count: 10_000) + $0
    }
}
