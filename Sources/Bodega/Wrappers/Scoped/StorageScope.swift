public import Foundation
import RecordCoder

/// What a client may see and do in a collection. ``StorageEngine/scoped(to:)`` returns an engine that is limited to it.
///
/// ```swift
/// let notes = database.scoped(to: StorageScope(where: "owner", equals: userID))
/// ```
///
/// A scope without a filter has all items.
public struct StorageScope: Sendable {

    /// What a client may do with the items of a scope.
    public struct Rights: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Reading items, and finding, counting and sorting them.
        public static let read = Rights(rawValue: 1 << 0)

        /// Adding, overwriting and removing items.
        public static let write = Rights(rawValue: 1 << 1)

        /// Following changes. It takes the right to read, too.
        public static let observe = Rights(rawValue: 1 << 2)

        /// Creating and removing indexes, and declaring references.
        public static let manage = Rights(rawValue: 1 << 3)

        /// All rights to items.
        public static let items: Rights = [.read, .write, .observe]

        /// All rights.
        public static let all: Rights = [.items, .manage]
    }

    /// What distinguishes a scope from others with other rights or items.
    package struct Identity: Hashable, Sendable {
        let rights: Rights
        /// The filter, or the text that a member must have; empty for all items.
        let filter: ExactText
    }

    /// `nil` if the items are chosen by code.
    package let identity: Identity?

    /// What a client may do.
    public let rights: Rights

    /// Whether an item is in the scope; `nil` if all are.
    let condition: (@Sendable (Data) -> Bool)?

    /// A text that a member of each item in the scope has; `nil` if none is known.
    let requiredText: (path: JSONQuery, text: String)?

    /// Creates a scope of all items of a collection.
    public init(rights: Rights) {
        self.init(rights: rights, where: nil)
    }

    /// Creates a scope of the items that match a filter.
    ///
    /// Items that are not JSON are not in it, and neither are those with several members of one name on a path of the
    /// filter: other programs could read another one.
    ///
    /// - Parameters:
    ///   - filter: A filter expression of RFC 9535 on the items' JSON, such as `@.owner == "ada"`; see
    ///     ``Query/init(matching:sortedBy:)``.
    ///   - rights: What a client may do.
    /// - Throws: ``StorageError/Code/invalidArgument`` if the filter is not valid.
    public init(matching filter: String, rights: Rights = .items) throws {
        self.init(try JSONFilterParser.parse(filter), as: "?\(filter)", rights)
    }

    /// Creates a scope of the items that have a certain text in a member, such as the identifier of a user.
    ///
    /// The text can be any, unlike one that is put into a filter expression. Items with several members of one name on
    /// the path are not in the scope.
    ///
    /// - Parameters:
    ///   - path: The path to the member, as in ``StorageIndex/Member/path``.
    ///   - text: The member's text. It is compared scalar by scalar.
    ///   - rights: What a client may do.
    public init(where path: String, equals text: String, rights: Rights = .items) {
        let member = JSONFilter.Operand.query(StorageIndex.Member(path).query)
        let name = "=\(path.utf8.count) \(path)\(text)"
        self.init(.compare(member, .equal, .literal(.string(text))), as: name, rights)
    }

    private init(_ filter: JSONFilter, as name: String, _ rights: Rights) {
        self.rights = rights
        identity = Identity(rights: rights, filter: ExactText(name))
        requiredText = filter.requiredText
        let queries = filter.queries
        condition = { data in
            data.withUnsafeBytes { bytes in
                guard isValidUTF8(bytes), let range = JSONScanner.document(bytes) else { return false }
                return filter.accepts(bytes, range) && queries.allSatisfy { $0.isUnambiguous(in: bytes, range) }
            }
        }
    }

    /// - Parameter condition: Whether an item is in the scope; `nil` if all are.
    package init(rights: Rights, where condition: (@Sendable (Data) -> Bool)?) {
        (self.rights, self.condition, requiredText) = (rights, condition, nil)
        identity = condition == nil ? Identity(rights: rights, filter: ExactText("")) : nil
    }

    /// Whether an item is in the scope.
    public func contains(_ data: Data) -> Bool { condition?(data) ?? true }

    func require(_ right: Rights, _ action: String) throws {
        guard rights.contains(right) else {
            throw StorageError(.permissionDenied, "The right to \(action) is missing here.")
        }
    }
}
