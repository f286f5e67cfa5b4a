/// The place of a batch in the log.
///
/// A reader whose cursor is ``before`` can go on at ``after``: no other origin has changed anything in between.
public struct StorageCommit: Sendable, Hashable {
    /// The cursor right before the batch.
    public var before: StorageCursor
    /// The cursor right after it, the same if it has changed nothing.
    public var after: StorageCursor

    /// Creates a place.
    public init(before: StorageCursor, after: StorageCursor) {
        (self.before, self.after) = (before, after)
    }
}
