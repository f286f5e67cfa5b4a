import RecordCoder

/// An index over one or several members of the items' JSON.
///
/// The index narrows: the engine finds candidates by it, and Swift decides which of them match. So an index changes how
/// long a query takes, and never its result.
///
/// An index over several members, a *compound* index, has the order of the first one, among items with equal values
/// that of the second, and so on. It serves conditions that compare its first members for equality, and a range of the
/// next one or the order of all others.
///
/// A *partial* index leaves out items, see ``where(_:equals:isForText:)``.
///
/// An index for searches, see ``search(_:form:)``, finds the items whose texts have certain words.
public struct StorageIndex: Sendable, Hashable, CustomStringConvertible {

    /// A member of the items' JSON in an index.
    public struct Member: Sendable {
        /// The path to the member: names separated by dots, such as `owner.name`. A backslash escapes the dot or
        /// backslash that follows.
        public let path: String

        /// Whether texts are prepared for comparison as Swift compares them, where "é" and "e" with an accent are
        /// equal. Queries with a `#Predicate` about strings and UUIDs need it, and queries that are sorted by a string.
        ///
        /// Each text is examined when it is written. In SQLite, this takes about 1 µs for up to 1,000 bytes of ASCII,
        /// 15 µs for 200 letters of Latin with accents, Greek, Cyrillic, Chinese or Japanese, and up to 40 µs for 400
        /// bytes in other scripts, in addition to the cost of an index that is not for text. Texts of more than 4,000
        /// bytes of ASCII, 1,000 bytes in the scripts named, or 400 in others, are not examined. Each query that uses
        /// the index reads them.
        public let isForText: Bool

        /// Creates a description of a member.
        ///
        /// - Parameters:
        ///   - path: The path to the member, such as `owner.name`.
        ///   - isForText: Whether texts are prepared for comparison as Swift compares them.
        public init(_ path: String, isForText: Bool = true) {
            self.path = path
            self.isForText = isForText
        }
    }

    /// The first member. In a partial index, it is one of the condition.
    public let first: Member

    /// The members by which items with equal values of the earlier ones are ordered.
    public let others: [Member]

    /// The sort keys that a partial index requires of its first members, one for each member of the condition; none for
    /// an index of all items.
    public let constants: [StorageSortKey]

    /// How the texts of the members are divided, if this is an index for searches, which has no order; otherwise `nil`.
    public let searchForm: SearchForm?

    /// The path to the first member.
    public var path: String { first.path }

    /// Whether texts of the first member are prepared for comparison as Swift compares them.
    public var isForText: Bool { first.isForText }

    /// Creates a description of an index over one member.
    ///
    /// - Parameters:
    ///   - path: The path to the member, such as `owner.name`.
    ///   - isForText: Whether texts are prepared for comparison as Swift compares them.
    public init(_ path: String, isForText: Bool = true) {
        self.init(Member(path, isForText: isForText))
    }

    /// Creates a description of an index over several members.
    ///
    /// - Parameters:
    ///   - first: The first member.
    ///   - others: The members by which items with equal values of the earlier ones are ordered.
    public init(_ first: Member, _ others: Member...) { self.init(first, others) }

    /// Creates a description of an index over one or several members.
    public init(_ first: Member, _ others: [Member]) { self.init(first, others, [], nil) }

    private init(_ first: Member, _ others: [Member], _ constants: [StorageSortKey], _ form: SearchForm?) {
        (self.first, self.others, self.constants, searchForm) = (first, others, constants, form)
    }

    /// Returns a description of an index of only those items that meet a condition: a *partial* index.
    ///
    /// It is an index over the member of the condition and then those of this index, without the items whose member has
    /// another value. So it takes less space, and writing such an item takes less time. Only a query whose condition
    /// includes this one, joined by "and", is served. Items without the member are in it, because a type can decode
    /// them with the value, and so are items about which the engine knows nothing.
    ///
    /// An engine that does not know partial indexes can create one of all items.
    ///
    /// ```swift
    /// StorageIndex("dueDate").where("isDone", equals: .integer(0), isForText: false)
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path to the member of the condition, such as `isDone`.
    ///   - key: The sort key of the member's value: an integer below 2^48, where `false` is 0 and `true` is 1, a text
    ///     of at most 200 bytes without control characters, or ``StorageSortKey/none`` for `null`. Engines refuse other
    ///     keys.
    ///   - isForText: Whether texts of the member are prepared for comparison as Swift compares them.
    public func `where`(_ path: String, equals key: StorageSortKey, isForText: Bool = true) -> StorageIndex {
        precondition(searchForm == nil, "An index for searches has all items.")
        var members = self.members
        members.insert(Member(path, isForText: isForText), at: constants.count)
        return StorageIndex(members[0], Array(members.dropFirst()), constants + [key], nil)
    }

    /// Returns a description of an index for searches in the texts of members.
    ///
    /// - Parameters:
    ///   - paths: The paths to the members, each with a text or a list of texts; at least one.
    ///   - form: How the texts are divided.
    public static func search(_ paths: [String], form: SearchForm = .words) -> StorageIndex {
        precondition(!paths.isEmpty, "An index for searches has at least one path.")
        let members = paths.map { Member($0, isForText: false) }
        return StorageIndex(members[0], Array(members.dropFirst()), [], form)
    }

    /// An index over these members and a further one.
    func followed(by member: Member) -> StorageIndex { StorageIndex(first, others + [member], constants, searchForm) }

    /// The members, in their order. In a partial index, the first ones are those of the condition.
    public var members: [Member] { [first] + others }

    /// The last member.
    package var last: Member { others.last ?? first }

    /// Whether the index is over one member at a path, and no other.
    package func isOver(_ path: String) -> Bool { others.isEmpty && searchForm == nil && first.isOver(path) }

    /// The paths, separated by commas; of a partial index, with its condition, and of one for searches, with its form.
    public var description: String {
        let paths = members[constants.count...].map(\.path).joined(separator: ", ")
        return paths + conditionText + (searchForm.map { " (\($0.rawValue))" } ?? "")
    }
}

extension StorageIndex.Member {

    /// The names of the members on the path, outermost first.
    package var names: [String] {
        var names = [""]
        var isEscaped = false
        for scalar in path.unicodeScalars {
            if isEscaped || scalar != "\\" && scalar != "." {
                names[names.count - 1].unicodeScalars.append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else {
                names.append("")
            }
        }
        return names
    }

    /// Whether the member is at a path. Names in JSON are compared byte by byte: two spellings of "é" are two names.
    package func isOver(_ path: String) -> Bool { self.path.hasSameBytes(as: path) }

    package var query: JSONQuery { JSONQuery(selectors: names.map { .name($0) }) }

    /// The path with its names escaped.
    package static func path(of names: [String]) -> String {
        // By scalars, as the path is read: a dot with an accent is one of Swift's characters.
        names.map { name in
            String(
                String.UnicodeScalarView(
                    name.unicodeScalars.flatMap { $0 == "\\" || $0 == "." ? ["\\", $0] : [$0] }))
        }.joined(separator: ".")
    }
}

extension StorageIndex.Member: Hashable {
    /// Compares the paths byte by byte.
    public static func == (left: Self, right: Self) -> Bool {
        left.isOver(right.path) && left.isForText == right.isForText
    }

    public func hash(into hasher: inout Hasher) {
        path.hashBytes(into: &hasher)
        hasher.combine(isForText)
    }
}
