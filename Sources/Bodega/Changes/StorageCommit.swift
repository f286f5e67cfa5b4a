/// Where in a history a change is that was made by somebody who follows that history.
///
/// Who had reached the place before it has then reached the one behind it: nobody else has changed anything in between.
package struct StorageCommit: Sendable {
    /// The place right before the change.
    package let before: StorageCursor
    /// The place right behind it, the same if it has changed nothing.
    package let after: StorageCursor
}

/// An engine that spares those who write and follow a history reading what they have written themselves.
package protocol CommitReportingStorageEngine: ObservableStorageEngine {

    /// Applies operations, see ``StorageEngine/apply(_:)``, and tells where in the history they are.
    ///
    /// - Returns: `nil` if that is not known.
    func commit(_ operations: [StorageOperation]) async throws -> StorageCommit?

    /// Signals that there may be changes, see ``ObservableStorageEngine/changeSignals()``.
    ///
    /// - Parameter origin: Who need not be told of his own changes. There is a signal nevertheless if others may have changed
    ///   something before them that he has not been told of.
    func changeSignals(excluding origin: StorageOrigin) -> AsyncStream<Void>
}
