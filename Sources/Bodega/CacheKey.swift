/// The name under which an item is stored.
///
/// A key consists of a ``rawValue`` and a ``kind``; its ``value`` is derived from both. Engines return keys equal to
/// those under which the items were written, even after the program was restarted.
///
/// ```swift
/// CacheKey("dolly")                                  // value: its MD5
/// CacheKey(url: URL(string: "https://example.com")!) // value: the MD5 of "example.com"
/// CacheKey(verbatim: "dolly.txt")                    // value: "dolly.txt"
/// ```
///
/// Keys are compared byte by byte: two strings that only look alike, such as the two encodings of "é", differ. URLs are
/// compared by their normal forms; see ``init(url:)``. Keys of different kinds differ even with equal raw values.
public struct CacheKey: Sendable {

    /// How the ``CacheKey/value`` is derived from the ``CacheKey/rawValue``.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// The value is the MD5 of the raw value.
        case hashed
        /// The raw value is a URL; the value is the MD5 of its normal form.
        case url
        /// The value is the raw value.
        case verbatim
    }

    /// The string that the key was created from; for a key created from a URL, the whole URL.
    ///
    /// Engines store the normal form of a URL. The key that an engine returns for an item written under a URL therefore
    /// has the normal form as its raw value, and equals the key that was written.
    public let rawValue: String

    /// How the ``value`` is derived from the ``rawValue``.
    public let kind: Kind

    /// Whether the raw value is a whole URL, which is compared by its normal form.
    private let hasNormalForm: Bool

    /// Creates a key from any string.
    ///
    /// - Parameter value: The string. It may be empty and may hold any character.
    public init(_ value: String) {
        self.init(rawValue: value, kind: .hashed)
    }

    /// Creates a key from a string that is used unchanged, even as the name of a file.
    ///
    /// Use it for strings that are already file names. A string that is not a valid file name works too:
    /// ``DiskStorageEngine`` derives a name from it.
    ///
    /// - Parameter value: The string. It may be empty and may hold any character.
    public init(verbatim value: String) {
        self.init(rawValue: value, kind: .verbatim)
    }

    /// Creates a key from its parts.
    ///
    /// The raw value of a URL is the whole URL, with `//` after the scheme, or its normal form, without one. An engine
    /// uses ``init(identity:kind:)`` instead, which has no such rule.
    ///
    /// - Parameters:
    ///   - rawValue: The string that the key was created from.
    ///   - kind: How the ``value`` is derived from it.
    public init(rawValue: String, kind: Kind) {
        self.init(rawValue, kind, hasNormalForm: kind == .url && URLNormalForm.isWholeURL(rawValue))
    }

    /// Creates a key from its identity, for engines that store keys.
    ///
    /// - Parameters:
    ///   - identity: The ``identity`` of the key.
    ///   - kind: How the ``value`` is derived from it.
    public init(identity: String, kind: Kind) {
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

    /// The text by which the key is compared and stored: the normal form of a URL, otherwise the raw value.
    ///
    /// Two keys are equal if their kinds are, and if these texts consist of the same bytes.
    public var identity: String {
        hasNormalForm ? URLNormalForm(of: rawValue).text : rawValue
    }

    /// The name of the item where names are limited, as in file systems: the raw value of a ``Kind/verbatim`` key, else
    /// the MD5 of the raw value, or of a URL's normal form, in uppercase hexadecimal digits grouped 8-4-4-4-12.
    ///
    /// It is computed on each access. The MD5 only names items; it does not protect them.
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
    /// A key encoded without its kind is decoded as ``Kind/verbatim`` if its value and raw value are equal or only one
    /// of them is present, otherwise as ``Kind/hashed``.
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
        // The value shows whether the raw value is a whole URL even if its text doesn't.
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

extension Sequence where Element: Hashable {
    /// The elements without those that are equal to earlier ones.
    package var withoutRepetitions: [Element] {
        var known: Set<Element> = []
        return filter { known.insert($0).inserted }
    }
}
