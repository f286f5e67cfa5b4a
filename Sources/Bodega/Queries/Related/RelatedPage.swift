/// An object with the items that are related to it, see ``RelatedQuery``.
public struct RelatedRow<Object, Related> {
    /// The object's key.
    public var key: CacheKey
    /// The object.
    public var object: Object
    /// The related items: those to which the object refers, or those that refer to it.
    public var related: Related

    /// Creates a row.
    public init(key: CacheKey, object: Object, related: Related) {
        (self.key, self.object, self.related) = (key, object, related)
    }
}

extension RelatedRow: Sendable where Object: Sendable, Related: Sendable {}
extension RelatedRow: Equatable where Object: Equatable, Related: Equatable {}
extension RelatedRow: Hashable where Object: Hashable, Related: Hashable {}
extension RelatedRow: Encodable where Object: Encodable, Related: Encodable {}
extension RelatedRow: Decodable where Object: Decodable, Related: Decodable {}

extension RelatedRow: Identifiable {
    /// The object's key.
    public var id: CacheKey { key }
}

/// A part of the result of a query that includes related items.
public struct RelatedPage<Object, Related> {
    /// The objects with their related items, in the order of the query.
    public var rows: [RelatedRow<Object, Related>]

    /// The place of the next page; `nil` if there are no more objects.
    public var next: QueryCursor?

    /// An error for each record, of an object or of a related item, that was read and that can't be decoded or
    /// decrypted; empty unless the query was told to omit them, see ``QueryPage/undecodable``.
    public var undecodable: [StorageError]
}

extension RelatedPage: Sendable where Object: Sendable, Related: Sendable {}
