/// The name under which an item is stored.
///
/// A key is made of a ``rawValue`` and a ``kind``; the ``value``, a name that any file system can hold, follows from
/// the two. Engines return keys equal to those that wrote the items, also after the program was restarted.
///
/// ```swift
/// CacheKey("dolly")                                  // value: its MD5
/// CacheKey(url: URL(string: "https://example.com")!) // value: the MD5 of "example.com"
/// CacheKey(verbatim: "dolly.txt")                    // value: "dolly.txt"
/// ```
///
/// Keys are compared byte by byte: two strings that only look alike, such as the two ways to write "é", make different
/// keys. Of a URL, only its normal form is compared; see ``init(url:)``. Keys of different kinds are different keys even
/// if their raw values agree.
public struct CacheKey: Sendable {

    /// How the ``CacheKey/value`` follows from the ``CacheKey/rawValue``.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// The value is the MD5 of the raw value.
        case hashed
        /// The raw value is a URL; the value is the MD5 of its normal form.
        case url
        /// The value is the raw value.
        case verbatim
    }

    /// The string that the key was made from: for a key made from a URL, the whole of that URL.
    ///
    /// Engines keep the normal form of a URL. So a key that an engine returns, for an item that was written under a URL, has
    /// that for its raw value, and is equal to the key that was written.
    public let rawValue: String

    /// How the ``value`` follows from the ``rawValue``.
    public let kind: Kind

    /// Whether the raw value is a URL of which only the normal form counts.
    private let hasNormalForm: Bool

    /// Creates a key from any string.
    ///
    /// - Parameter value: The string. It may be empty and may hold any character.
    public init(_ value: String) {
        self.init(rawValue: value, kind: .hashed)
    }

    /// Creates a key from a string that is to be used as it is, also as the name of a file.
    ///
    /// Use it for names that are file names already. A string that no file could be named by is stored all the same,
    /// under a name that ``DiskStorageEngine`` derives.
    ///
    /// - Parameter value: The string. It may be empty and may hold any character.
    public init(verbatim value: String) {
        self.init(rawValue: value, kind: .verbatim)
    }

    /// Creates a key from its parts, for engines that store them.
    ///
    /// A URL is either its whole text, which has `//` behind the scheme, or a normal form, which has no scheme.
    ///
    /// - Parameters:
    ///   - rawValue: The string that the key was made from.
    ///   - kind: How the ``value`` follows from it.
    public init(rawValue: String, kind: Kind) {
        self.init(rawValue, kind, hasNormalForm: kind == .url && URLNormalForm.isWholeURL(rawValue))
    }

    /// Creates a key from the text that it is compared by.
    ///
    /// - Parameters:
    ///   - identity: The ``identity`` of the key.
    ///   - kind: How the ``value`` follows from it.
    package init(identity: String, kind: Kind) {
        self.init(identity, kind, hasNormalForm: false)
    }

    init(_ rawValue: String, _ kind: Kind, hasNormalForm: Bool) {
        var rawValue = rawValue
        // A string bridged from elsewhere would be converted at every comparison.
        rawValue.makeContiguousUTF8()
        self.rawValue = rawValue
        self.kind = kind
        self.hasNormalForm = hasNormalForm
    }

    /// The text that the key is compared by, and stored under: the normal form of a URL, else the raw value.
    package var identity: String {
        hasNormalForm ? URLNormalForm(of: rawValue).text : rawValue
    }

    /// The name of the item where names are limited, as in a file system: the raw value of a ``Kind/verbatim`` key,
    /// else the MD5 of the raw value, or of the normal form of a URL, in upper-case hexadecimal digits, grouped
    /// 8-4-4-4-12.
    ///
    /// It is computed at each call. MD5 serves to name things here, not to protect them.
    public var value: String {
        kind == .verbatim ? rawValue : identity.groupedMD5
    }
}

extension CacheKey: Hashable {
    /// Compares the raw values, or the normal forms of URLs, byte by byte, and the kinds.
    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        guard left.kind == right.kind else { return false }
        let haveSameText = left.rawValue.hasSameBytes(as: right.rawValue)
        if left.kind != .url || haveSameText && left.hasNormalForm == right.hasNormalForm { return haveSameText }
        return left.identity.hasSameBytes(as: right.identity)
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        if hasNormalForm {
            URLNormalForm(of: rawValue).hash(into: &hasher)
        } else {
            rawValue.hashBytes(into: &hasher)
        }
    }
}

extension CacheKey: CustomStringConvertible {
    /// The raw value, quoted, with control characters escaped, and the kind if it is not ``Kind/hashed``.
    public var description: String {
        kind == .hashed ? rawValue.debugDescription : "\(kind.rawValue):\(rawValue.debugDescription)"
    }
}

extension CacheKey: Codable {
    private enum CodingKeys: String, CodingKey {
        case value, rawValue, kind
    }

    /// Decodes a key.
    ///
    /// A key encoded without its kind is taken for verbatim if its value is its raw value or the only part, else for
    /// hashed.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let value = try container.decodeIfPresent(String.self, forKey: .value)
        guard let rawValue = try container.decodeIfPresent(String.self, forKey: .rawValue) ?? value else {
            throw DecodingError.keyNotFound(
                CodingKeys.rawValue,
                .init(codingPath: decoder.codingPath, debugDescription: "A cache key needs a rawValue or a value.")
            )
        }
        let kind = try container.decodeIfPresent(Kind.self, forKey: .kind)
        guard kind == .url, let value else {
            self.init(rawValue: rawValue, kind: kind ?? (value == nil || value == rawValue ? .verbatim : .hashed))
            return
        }
        // The value shows whether it is the whole URL, also where the text doesn't.
        self.init(rawValue, .url, hasNormalForm: value != rawValue.groupedMD5)
    }

    /// Encodes the value, the raw value and the kind.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value, forKey: .value)
        try container.encode(rawValue, forKey: .rawValue)
        try container.encode(kind, forKey: .kind)
    }
}
