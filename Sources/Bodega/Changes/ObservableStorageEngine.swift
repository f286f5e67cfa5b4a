public import Foundation

/// An engine that reports what changes in it, whether this process, another process or another machine changes it.
///
/// ```swift
/// for try await update in engine.changes(since: savedCursor) {
///     switch update {
///     case .snapshot(let snapshot): replaceAll(with: snapshot.items)
///     case .changes(let delta): try await refresh(delta.changes.map(\.key))
///     }
///     savedCursor = update.cursor
/// }
/// ```
///
/// The log of a collection lists its changes in the order in which they took effect. A ``StorageCursor`` is a place in
/// the log that survives restarts. From a cursor on, each change is reported once, and none is omitted. The log begins
/// with the first call of a method of this protocol, and it is bounded: a cursor that is older than its oldest entry,
/// or that belongs to another log, gets a snapshot instead.
///
/// Consecutive writes of one key in one batch may be one change, because only the last of them is ever visible.
///
/// A change has a key and no data. Reading the key returns the item as this change or a later one left it.
///
/// ``MemoryStorageEngine``, ``SQLiteStorageEngine`` and the engine of the module BodegaPostgres conform.
public protocol ObservableStorageEngine: StorageEngine {

    /// Returns the cursor at the end of the log.
    ///
    /// - Throws: A ``StorageError`` if it could not be read, or if there is no log yet and none can be begun, for
    ///   example in a file that is opened read-only.
    func fetchCursor() async throws -> StorageCursor

    /// Reads all items, in insertion order, and the cursor at that moment.
    ///
    /// - Throws: A ``StorageError`` if they could not be read, and like ``fetchCursor()``.
    func fetchSnapshot() async throws -> StorageSnapshot

    /// Reads the next changes after a cursor, without waiting for any.
    ///
    /// - Parameters:
    ///   - cursor: The cursor.
    ///   - origin: The origin whose changes are omitted: if all changes are its own, the delta may be empty, with a
    ///     cursor after them. Between others' changes its own are reported, to show their order. `nil` omits none.
    /// - Returns: The changes in order, not necessarily all of them, see ``StorageDelta/isComplete``. `nil` if the log
    ///   does not reach back to the cursor, or is another one; read a snapshot then.
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetchChanges(since cursor: StorageCursor, excluding origin: StorageOrigin?) async throws -> StorageDelta?

    /// Reads all changes after a cursor, and the items under the changed keys right after the last of them.
    ///
    /// An item that is read later than its change can be newer than the change, and is then reported again. A reader
    /// that shows items and continues at the cursor of this result shows each version once.
    ///
    /// The engines of this package read both at one moment. The default implementation is for engines that can't: it
    /// reads again while other writers change the items, and returns `nil` if they don't stop.
    ///
    /// - Parameters:
    ///   - cursor: The cursor.
    ///   - origin: The origin whose own changes are omitted, see ``fetchChanges(since:excluding:)``. The items under
    ///     keys that only this origin has written are omitted, too.
    /// - Returns: All changes in order, possibly none if all are of the excluded origin, and the items that exist under
    ///   the keys that others have written, in any order. `nil` if the log does not reach back to the cursor; read a
    ///   snapshot then.
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetchChangedItems(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> (delta: StorageDelta, items: [(key: CacheKey, data: Data)])?

    /// Returns a stream that signals possible changes: first immediately, then after each change or after several.
    ///
    /// A signal may come without a change, but a change never comes without a signal. The stream ends when the engine
    /// is closed. A closed engine returns a stream that ends without a signal.
    func changeSignals() -> AsyncStream<Void>
}

extension ObservableStorageEngine {

    /// Returns a sequence of the changes of all writers: first those after the cursor, then each as it comes.
    ///
    /// The sequence reads only when its next element is asked for, so a slow reader does not block writers. Each
    /// iterator follows independently. The iteration ends with an error if the changes could not be read; it can be
    /// started again from the last cursor. It ends with `nil` when the task is cancelled or the engine is closed.
    ///
    /// - Parameters:
    ///   - cursor: The cursor to begin at. `nil` begins with a snapshot.
    ///   - origin: The origin whose own changes are omitted, see ``fetchChanges(since:excluding:)``.
    public func changes(
        since cursor: StorageCursor? = nil,
        excluding origin: StorageOrigin? = nil
    ) -> StorageChangeFeed {
        StorageChangeFeed(engine: self, cursor: cursor, origin: origin)
    }
}
