package import Foundation

/// The place of a write in the log.
///
/// A reader whose cursor is ``before`` can go on at ``after``: no other origin has changed anything in between.
package struct StorageCommit: Sendable {
    /// The cursor right before the write.
    package let before: StorageCursor
    /// The cursor right after it, the same if it has changed nothing.
    package let after: StorageCursor
}

/// An engine that spares a writer that follows the log reading its own changes, and whose operations do not end early
/// when their task is cancelled.
package protocol CommitReportingStorageEngine: ObservableStorageEngine {

    /// Applies operations, see ``StorageEngine/apply(_:)``.
    ///
    /// - Returns: Their place in the log, `nil` if it is not known.
    func commit(_ operations: [StorageOperation]) async throws -> StorageCommit?

    /// Reads all items in insertion order, with the end of the change log at the same moment, in parts, so that the
    /// reader can release the bytes of one while the next is read.
    ///
    /// - Parameter receive: Receives each part with its number, on the thread that reads, which it must not block.
    ///   There is at least one part. If the read has to be repeated, the numbers begin again at 0.
    /// - Returns: The end of the log.
    func readSnapshot(_ receive: @escaping @Sendable (Int, [(key: CacheKey, data: Data)]) -> Void) async throws
        -> StorageCursor

    /// Signals possible changes, see ``ObservableStorageEngine/changeSignals()``.
    ///
    /// - Parameter origin: The origin whose own changes are not signaled, unless changes of others that were not
    ///   signaled yet may be before them.
    func changeSignals(excluding origin: StorageOrigin) -> AsyncStream<Void>
}
