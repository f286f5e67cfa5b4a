/// A place in the history of a collection, see ``ObservableStorageEngine``.
///
/// It can be kept, in a file for instance, and used after a restart. What is in it is the engine's business.
public struct StorageCursor: RawRepresentable, Hashable, Codable, Sendable {
    /// The cursor as text.
    public let rawValue: String

    /// Creates a cursor.
    ///
    /// - Parameter rawValue: What an engine has put into a cursor of its own. Anything else is the cursor of no history,
    ///   and gets a snapshot.
    public init(rawValue: String) { self.rawValue = rawValue }
}
