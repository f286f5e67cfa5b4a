/// A place in the log of a collection, see ``StorageLog``.
///
/// It can be saved, for instance in a file, and used after a restart. Its format is private to the engine.
public struct StorageCursor: RawRepresentable, Hashable, Codable, Sendable {
    /// The cursor as text.
    public let rawValue: String

    /// Creates a cursor.
    ///
    /// - Parameter rawValue: The text of a cursor from an engine. Other texts belong to no log and get a snapshot.
    public init(rawValue: String) { self.rawValue = rawValue }
}

extension StorageCursor {
    /// What the cursors of the logs of scopes begin with, see ``ScopedStorageEngine``.
    static let scopePrefix = "scope-"

    /// Whether this is a cursor of a scope with a filter. Its reader may have got rights to the whole collection since,
    /// so for the collection's log it is not one of another database.
    var isOfScope: Bool { rawValue.hasPrefix(Self.scopePrefix) }
}
