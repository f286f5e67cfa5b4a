import Bodega
import Foundation

/// Keys that engines often handle incorrectly.
enum KeyExamples {

    static let kinds: [CacheKey] = [
        CacheKey("hashed"),
        CacheKey(verbatim: "verbatim"),
        CacheKey(rawValue: "example.com/a?b=c#d", kind: .url),
        CacheKey(rawValue: "https://www.example.org/b?c=d", kind: .url),
        // A URL without an authority, whose text doesn't show that it is whole.
        URL(string: "mailto:someone@example.com").map(CacheKey.init(url:)) ?? CacheKey(""),
        CacheKey(verbatim: "file.txt"),
        // A name that looks like the value of a hashed key.
        CacheKey(verbatim: "9DD4E461-268C-8034-F5C8-564E155C67A6"),
        CacheKey("9DD4E461-268C-8034-F5C8-564E155C67A6"),
    ]

    /// Different keys that share raw values or values.
    static let alike: [CacheKey] = [
        CacheKey("x"),
        CacheKey(verbatim: "x"),
        CacheKey(verbatim: CacheKey("x").value),
        CacheKey(rawValue: "x", kind: .url),
    ]

    /// Different keys that a person, a file system or a database may consider equal.
    static let similar: [CacheKey] =
        [
            "readme", "README", "ReadMe", "readme ", " readme", "readme.", "readme\u{0}", "readme\u{0}a",
            "r\u{e9}sum\u{e9}",
            "re\u{301}sume\u{301}", "Straße", "strasse", "\u{FF52}eadme", "readme%20", "1", "01", "1.0",
            CacheKey("x").value.lowercased(),
        ].flatMap { [CacheKey(verbatim: $0), CacheKey($0)] } + [CacheKey("x"), CacheKey(verbatim: CacheKey("x").value)]

    /// Keys that engines truncate, refuse or misinterpret.
    ///
    /// - Parameter texts: Additional raw values.
    static func extreme(with texts: [String]) -> [CacheKey] {
        var seen: Set<CacheKey> = []
        return (extreme + texts).flatMap { [CacheKey($0), CacheKey(verbatim: $0), CacheKey(rawValue: $0, kind: .url)] }
            .filter { seen.insert($0).inserted }
    }

    private static let extreme: [String] = [
        "", " ", ".", "..", "...", "/", "//", "a/b", "../../escape", "/etc/nothing", "~", ".hidden", "..double", "-rf",
        "trailing.", "trailing/", "a\\b", "C:\\nothing", "CON", "nul.txt", "\u{0}", "a\u{0}b", "\n", "a\nb", "\r\n",
        "\t",
        "\u{7F}", "%", "%2F", "%s", "?*<>|:\"", "'; DROP TABLE data; --", "🦙", "👨‍👩‍👧‍👦", "é", "e\u{301}", "\u{FEFF}",
        "\u{202E}abc", "\u{10FFFF}", "data.sqlite3", ".DS_Store", "tmp", "a.tmp",
        String(repeating: "n", count: 255), String(repeating: "n", count: 256), String(repeating: "🦙", count: 64),
        String(repeating: "k", count: 10_000), String(repeating: "k", count: 9_999) + "/",
        String(repeating: "n", count: 254) + ".",
    ]
}
