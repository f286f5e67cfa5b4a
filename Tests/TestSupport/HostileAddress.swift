import Foundation

/// A database address with a password that contains unescaped special characters.
package struct HostileAddress: Sendable, CustomStringConvertible {
    /// The address.
    package let text: String
    /// The parts of the password, which must not appear anywhere.
    package let pieces: [String]

    package var description: String { text }

    /// Generates a random address.
    package init(using generator: inout some RandomNumberGenerator) {
        let template = Self.templates.randomElement(using: &generator) ?? ""
        let marks =
            template.contains("PASSWORD@")
            ? Self.marks : Self.marks.filter { !$0.unicodeScalars.contains { $0 == "@" || $0 == "#" } }
        let pieces = (0..<3).map { _ in
            "z"
                + (0..<8).map { _ in
                    String("abcdefghijklmnopqrstuvwxyz0123456789".randomElement(using: &generator) ?? "a")
                }
                .joined()
        }
        self.pieces = pieces
        var password = pieces[0]
        for piece in pieces.dropFirst() { password += (marks.randomElement(using: &generator) ?? "") + piece }
        text = template.replacingOccurrences(of: "PASSWORD", with: password)
    }

    /// Whether a text contains a part of the password.
    package func isShown(in text: String) -> Bool {
        pieces.contains { text.lowercased().contains($0) }
    }

    private static let marks = [
        "@", "/", ":", "?", "#", "%", "%40", "%2F", "%3a", "%00", "&", "=", "'", "\\", "\\'", " ", ",", "[", "]", "+",
        ";",
        "\"", "\n", "@\u{301}", ":\u{301}", "/\u{301}", "é", "://", "@/", "/@", "//", "0",
    ]

    private static let templates = [
        "postgres://app:PASSWORD@127.0.0.1:1/notes", "postgresql://app:PASSWORD@h/notes#c", "postgres://app:PASSWORD@h",
        "postgres://app:PASSWORD/notes", "postgres://app:PASSWORD", "postgres://:PASSWORD@h",
        "postgres://app%3APASSWORD@h",
        "postgres://app:PASSWORD@h,h:1/d?application_name=x", "postgres://app:PASSWORD@[::1]:1/d",
        "postgres:app:PASSWORD@h",
        "POSTGRES://app:PASSWORD@h/x.db", " postgres://app:PASSWORD@h/d", "pg://app:PASSWORD@h/x.db",
        "app:PASSWORD@h/x.db",
        "sqlite://app:PASSWORD@h", "postgres:/app:PASSWORD@h", "postgres\u{301}://app:PASSWORD@h/x.db",
        "postgres://h/d?password=PASSWORD", "postgres://h/d?Password=PASSWORD", "postgres://h/d?passwd=PASSWORD",
        "postgres://h/d?pass%77ord=PASSWORD", "postgres://h/d?sslpassword=PASSWORD&sslmode=require",
        "postgres://app@h/d?application_name=x&password=PASSWORD#c", "host=h password=PASSWORD", "password=PASSWORD",
        "host=h password = 'PASSWORD'", "Password=PASSWORD host=h", "password=PASSWORD host=h sslmode=nonsense",
        "host=h user=app password=PASSWORD port=x", "host=h dbname='postgres://app:PASSWORD@h/d'",
        "host=h dbname='host=h password=PASSWORD'", "host=h sslpassword=PASSWORD sslmode=disable port=1",
        "https://app:PASSWORD@h/x#c", "https://app:PASSWORD@h", "HTTP://:PASSWORD@127.0.0.1:1#c",
        "https://app:PASSWORD",
        "https:app:PASSWORD@h", "https://h/?token=PASSWORD#c", "https://h?PASSWORD", "http:/app:PASSWORD@h#c",
    ]
}
