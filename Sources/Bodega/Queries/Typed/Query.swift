public import Foundation

/// A condition on objects, and an order of them.
///
/// ```swift
/// let now = Date()
/// let overdue = Query<Note>(
///     where: #Predicate { !$0.isDone && $0.dueDate < now }, sortedBy: SortDescriptor(\.dueDate))
/// let page = try await notes.fetch(overdue, limit: 50)
/// ```
///
/// A query is a value: it contains no objects. Pass it to the methods of ``ObjectStorage``.
///
/// ## Order
/// The result is in the order of the sort descriptors, and objects that are equal in that order are in insertion order.
/// The order of a property is that of its type's own `<`, on every engine, with and without an index. There are
/// three rules beside:
///
/// - Objects whose property is `nil` come last in both directions, where `sorted(using:)` has them first in ascending
///   order. So does NaN, which has no order.
/// - A query that searches texts, see ``searching(_:)-(String)``, has the most relevant objects first if there are no
///   sort descriptors.
/// - A locale does not count. On Apple's platforms, a descriptor for a `String` is made for a locale unless its
///   comparator is `.lexical`; a query sorts by `<` in both cases. Sort texts for a locale when you show them.
///
/// An index serves the order of integers, `Double`, dates that are stored as numbers, and texts, if it is for text, and
/// of optionals of these; a `Double` between 2^53 and 2^63 is read before the others, because several stored integers
/// can be equal to it. Objects are sorted by other types, such as `Decimal`, `Duration`, `Float`, `UUID`, and
/// enumerations and structures that are `Comparable`, after all matches have been decoded.
public struct Query<Object>: Sendable {

    /// What an object must meet.
    enum Condition: Sendable {
        case predicate(Predicate<Object>)
        case text(JSONFilter)
        case reference(ReferenceCondition<Object>)
        case search(SearchCondition<Object>)
    }

    /// A sort descriptor's parts.
    ///
    /// @unchecked because a key path is immutable, and the values that it captures are those of its literal.
    struct Term: @unchecked Sendable {
        /// `nil` if the descriptor has a comparator of its own.
        var keyPath: PartialKeyPath<Object>?
        var isDescending: Bool
    }

    /// An object that meets all of them matches.
    var conditions: [Condition]
    var order: [Term]
    /// Whether any order will do, so that a search need not determine how relevant objects are.
    private(set) var isUnordered = false

    /// Creates a query with a predicate.
    ///
    /// Parts of the predicate that compare a property with a constant can use an index, see ``Queryable``.
    ///
    /// - Parameters:
    ///   - predicate: The condition that objects must meet, `nil` for all objects.
    ///   - descriptors: The order. Of a sort descriptor, the key path and the direction count; a comparator of its own
    ///     is an error when the query runs.
    public init(where predicate: Predicate<Object>? = nil, sortedBy descriptors: SortDescriptor<Object>...) {
        self.init(where: predicate, sortedBy: descriptors)
    }

    /// Creates a query with a predicate and any number of sort descriptors, see `init(where:sortedBy:)`.
    public init(where predicate: Predicate<Object>? = nil, sortedBy descriptors: [SortDescriptor<Object>]) {
        conditions = predicate.map { [.predicate($0)] } ?? []
        order = descriptors.map(Term.init)
    }

    /// Creates a query with a filter expression of RFC 9535 on the objects' JSON, such as `@.isDone == false`.
    ///
    /// - Parameters:
    ///   - filter: The expression, with `@` for the object. Comparisons, `&&`, `||`, `!`, parentheses, existence tests,
    ///     and the functions `length`, `match` and `search` are supported.
    ///   - descriptors: The order, see `init(where:sortedBy:)`.
    /// - Throws: ``StorageError/Code/invalidArgument`` with the place at which the expression is wrong.
    public init(matching filter: String, sortedBy descriptors: SortDescriptor<Object>...) throws {
        conditions = [.text(try JSONFilterParser.parse(filter))]
        order = descriptors.map(Term.init)
    }

    /// Returns a query for those objects of this query that also meet a predicate.
    ///
    /// ```swift
    /// var query = Query<Note>(sortedBy: SortDescriptor(\.dueDate))
    /// if hidesDone { query = query.filter(#Predicate { !$0.isDone }) }
    /// if !text.isEmpty { query = query.filter(#Predicate { $0.title.contains(text) }) }
    /// ```
    ///
    /// - Parameter predicate: The predicate.
    public func filter(_ predicate: Predicate<Object>) -> Query {
        var query = self
        query.conditions.append(.predicate(predicate))
        return query
    }

    /// A query without the conditions on references, in the order of this query.
    package var withoutReferences: Query {
        var query = self
        query.conditions.removeAll { if case .reference = $0 { true } else { false } }
        return query
    }

    /// A query for the same objects in any order.
    var unordered: Query {
        var query = sorted(by: [])
        query.isUnordered = true
        return query
    }

    /// Returns a query for the same objects in another order.
    ///
    /// - Parameter descriptors: The order, in place of that of this query, see `init(where:sortedBy:)`.
    public func sorted(by descriptors: SortDescriptor<Object>...) -> Query { sorted(by: descriptors) }

    /// Returns a query for the same objects in another order, see ``sorted(by:)``.
    public func sorted(by descriptors: [SortDescriptor<Object>]) -> Query {
        var query = self
        query.order = descriptors.map(Term.init)
        query.isUnordered = false
        return query
    }
}

extension Query.Term {
    init(_ descriptor: SortDescriptor<Object>) {
        keyPath = descriptor.keyPath
        isDescending = descriptor.order == .reverse
    }
}

/// A place in the result of a query, from which the next page begins.
///
/// It can be saved or sent as text. It belongs to the query that it comes from.
///
/// On an engine that keeps the places of items, such as SQLite, PostgreSQL and memory, the objects after it are those
/// that come after its place in the order of the query, even if objects were added or removed since, its own included.
/// On other engines, it is an error if its object was removed.
public struct QueryCursor: RawRepresentable, Hashable, Codable, Sendable {
    /// The cursor as text. Its format is private.
    public let rawValue: String

    /// Creates a cursor.
    ///
    /// - Parameter rawValue: The text of a cursor from a page. Another text is an error when a query uses it.
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// A part of the result of a query.
public struct QueryPage<Object> {
    /// The objects with their keys, in the order of the query.
    public var objectsAndKeys: [(key: CacheKey, object: Object)]

    /// The place of the next page; `nil` if there are no more objects.
    public var next: QueryCursor?

    /// An error for each record that the query has read and that can't be decoded or decrypted; empty unless the query
    /// was told to omit them. Records that an index excludes are not read. At most 1,000 errors of the decoder are
    /// listed.
    public var undecodable: [StorageError]

    /// The objects without their keys.
    public var objects: [Object] { objectsAndKeys.map { $0.object } }
}

extension QueryPage: Sendable where Object: Sendable {}
