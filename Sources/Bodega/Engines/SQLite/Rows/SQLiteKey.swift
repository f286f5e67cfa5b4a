#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The representation of a key in a row: the text of the `key` column and the number of the `kind` column.
///
/// The files of Bodega 2 contain only the text: a hashed and a verbatim key with the same raw value share a row there.
/// In this package they are two items, and the text is the primary key, so one of them needs another text:
///
/// - The text of a key is its raw value, its *home*, where the statements of Bodega 2 find it. The home of a URL is its
///   normal form, so that URLs with the same normal form are one item.
/// - When a key of another kind is at the home, the text of a key that isn't hashed is its *detour*, which differs from
///   all homes: the raw value and a suffix with the kind. A hashed key moves the other one there.
/// - A raw value that itself ends in such a suffix has no home, only a detour.
/// - A row whose kind is NULL was written by Bodega 2. It matches keys of every kind with its raw value, and is listed
///   as a hashed one; writing to it sets the writer's kind. The text of its *original* row for a URL is the whole URL;
///   writing to it moves it to the home.
struct SQLiteKey {
    /// The preferred text, `nil` if the key has only a detour.
    let home: String?

    /// The text under which Bodega 2 writes the key, if that is not the home.
    let original: String?

    private let key: CacheKey
    private let identity: String

    init(_ key: CacheKey) {
        self.key = key
        identity = key.identity
        home = Self.endsLikeDetour(identity) ? nil : identity
        original = key.kind == .url && !key.rawValue.hasSameBytes(as: identity) ? key.rawValue : nil
    }

    /// The text when another key is at the home.
    var detour: String { identity + Self.suffix(of: key.kind) }

    /// The number in the `kind` column.
    var kind: Int { key.kind.number }

    /// The key in a row.
    ///
    /// - Parameters:
    ///   - text: The row's `key`.
    ///   - number: The row's `kind`.
    static func key(text: String, kind number: Int?) -> CacheKey {
        guard let kind = number.flatMap(CacheKey.Kind.init(number:)) else { return CacheKey(text) }
        if endsLikeDetour(text) {
            return CacheKey(identity: String(text.utf8.dropLast(suffix(of: kind).utf8.count)) ?? text, kind: kind)
        }
        return CacheKey(identity: text, kind: kind)
    }

    private static let marker = "\u{0}emporium:"

    /// SQL for the detours to which a row can move from its home.
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
        // Hardly any key contains a NUL, so this is enough for most keys.
        let containsNUL = text.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        }
        guard containsNUL ?? text.utf8.contains(0) else { return false }
        return CacheKey.Kind.allCases.contains { kind in
            let suffix = suffix(of: kind).utf8
            return text.utf8.count >= suffix.count && text.utf8.suffix(suffix.count).elementsEqual(suffix)
        }
    }
}
