#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// How a key stands in a row: the text of the `key` column and the number of the `kind` column.
///
/// Bodega's own files know only the text: a hashed and a verbatim key with the same raw value share a row there. Ours
/// are two items, and the text is the primary key, so one of them must go by another text:
///
/// - A key stands under its raw value, its *home*, where Bodega's statements find it. The home of a URL is its normal form,
///   so that URLs that differ in nothing else are one item.
/// - When the home is taken by a key of another kind, a key that isn't hashed stands under its *detour*, a text that
///   no home can be: the raw value and a suffix with the kind. A hashed key moves the other one there.
/// - A raw value that itself ends in such a suffix has no home, only a detour.
/// - A row whose kind is NULL was written by Bodega. It answers to keys of every kind with its raw value and is listed as a
///   hashed one; writing to it gives it the writer's kind. Bodega's *original* row for a URL stands under the whole URL;
///   writing to it moves it to the home.
struct SQLiteKey {
    /// The text under which the key stands if it can, `nil` if it has only a detour.
    let home: String?

    /// The text under which Bodega has written the key, if that is not the home.
    let original: String?

    private let key: CacheKey
    private let identity: String

    init(_ key: CacheKey) {
        self.key = key
        identity = key.identity
        home = Self.endsLikeDetour(identity) ? nil : identity
        original = key.kind == .url && !key.rawValue.hasSameBytes(as: identity) ? key.rawValue : nil
    }

    /// The text under which the key stands when its home is taken.
    var detour: String { identity + Self.suffix(of: key.kind) }

    /// The number in the `kind` column.
    var kind: Int { Self.number(of: key.kind) }

    /// The key that stands in a row.
    ///
    /// - Parameters:
    ///   - text: The row's `key`.
    ///   - number: The row's `kind`.
    static func key(text: String, kind number: Int?) -> CacheKey {
        guard let number, let kind = kind(of: number) else { return CacheKey(text) }
        if endsLikeDetour(text) {
            return CacheKey(identity: String(text.utf8.dropLast(suffix(of: kind).utf8.count)) ?? text, kind: kind)
        }
        return CacheKey(identity: text, kind: kind)
    }

    private static func number(of kind: CacheKey.Kind) -> Int {
        switch kind {
        case .hashed: 0
        case .verbatim: 1
        case .url: 2
        }
    }

    private static func kind(of number: Int) -> CacheKey.Kind? {
        CacheKey.Kind.allCases.first { self.number(of: $0) == number }
    }

    private static let marker = "\u{0}emporium:"

    /// SQL for the detours that an item's row can be moved to from its home.
    ///
    /// - Parameter home: SQL for the home.
    static func detours(of home: String) -> String {
        CacheKey.Kind.allCases.filter { $0 != .hashed }
            .map { "\(home) || char(0) || '\(marker.dropFirst())\($0.rawValue)'" }
            .joined(separator: ", ")
    }

    private static func suffix(of kind: CacheKey.Kind) -> String {
        marker + kind.rawValue
    }

    private static func endsLikeDetour(_ text: String) -> Bool {
        // Hardly any key holds a NUL, so this settles it for the rest.
        let holdsNUL = text.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        }
        guard holdsNUL ?? text.utf8.contains(0) else { return false }
        return CacheKey.Kind.allCases.contains { kind in
            let suffix = suffix(of: kind).utf8
            return text.utf8.count >= suffix.count && text.utf8.suffix(suffix.count).elementsEqual(suffix)
        }
    }
}
