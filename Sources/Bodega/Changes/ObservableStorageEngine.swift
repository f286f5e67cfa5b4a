/// An engine that tells what changes in it, whoever changes it: this process, another, another machine.
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
/// The history of a collection is a list of changes in the order in which they took effect, and a ``StorageCursor`` is a
/// place in it that survives restarts. From a cursor on, each change is told once, and none is left out. A history is kept
/// from the first time that somebody asks for it, and it is bounded: a cursor that is older than what is left of it, or
/// that is of another history, gets a snapshot instead, and is told so.
///
/// Writes of one key that follow each other in one batch, of which nobody can see any but the last, may be one change.
///
/// A change names its key and holds no data. Who reads what is stored under the key, after being told of the change, gets
/// the item as this change or a later one left it.
///
/// ``MemoryStorageEngine`` and ``SQLiteStorageEngine`` are such engines, and so is that of the module BodegaPostgres.
public protocol ObservableStorageEngine: StorageEngine {

    /// The place in the history that is reached now.
    ///
    /// - Throws: A ``StorageError`` if it could not be found out, or if there is no history yet and it cannot be begun,
    ///   such as in a file that is opened for reading only.
    func fetchCursor() async throws -> StorageCursor

    /// Reads all items, in insertion order, with the place in the history at that moment.
    ///
    /// - Throws: A ``StorageError`` if they could not be read, and like ``fetchCursor()``.
    func fetchSnapshot() async throws -> StorageSnapshot

    /// Reads the next changes after a place in the history, without waiting for any.
    ///
    /// - Parameters:
    ///   - cursor: The place.
    ///   - origin: Who need not hear of what nobody but himself has changed: if all changes are his, the delta may be
    ///     empty, with a cursor behind them. Between changes of others his own are told, so that their order is known.
    ///     `nil` for nobody.
    /// - Returns: The changes in their order, not necessarily all of them, see ``StorageDelta/isComplete``. `nil` if the
    ///   history does not reach back to the cursor, or is another one: then only a snapshot tells.
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetchChanges(since cursor: StorageCursor, excluding origin: StorageOrigin?) async throws -> StorageDelta?

    /// Reads all changes after a place in the history, and what is stored under the changed keys behind the last of them.
    ///
    /// Who shows items, and goes on at the cursor, so shows each version once: an item that is read after the changes can be
    /// newer than they are, and is then told again.
    ///
    /// The engines of this package read both at one moment. An engine that can't need not implement it: it is then read
    /// again and again until nobody changes the items meanwhile, and if they go on and on, the result is `nil`.
    ///
    /// - Parameters:
    ///   - cursor: The place.
    ///   - origin: Who need not hear of what nobody but himself has changed, see ``fetchChanges(since:excluding:)``. What is
    ///     stored under keys that only he has written is left out.
    /// - Returns: `nil` if only a snapshot tells.
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetchChangedItems(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> StorageChangedItems?

    /// Signals that there may be changes: once at once, and then after each change, or after several.
    ///
    /// A signal can come for nothing, but none fails to come. It ends when the engine is closed; those of an engine that is
    /// closed already end without a signal.
    func changeSignals() -> AsyncStream<Void>
}

extension ObservableStorageEngine {

    /// Follows the changes, whoever makes them: first all after the cursor, then each as it comes.
    ///
    /// A sequence that is not asked for more reads nothing, so a slow reader holds nobody up. Each iterator follows by
    /// itself. The iteration ends with an error when the changes could not be read; it can begin anew from the last cursor.
    /// It ends with `nil` when the task is cancelled or the engine closed.
    ///
    /// - Parameters:
    ///   - cursor: Where to begin. `nil` begins with a snapshot.
    ///   - origin: Who need not hear of what nobody but himself has changed, see
    ///     ``fetchChanges(since:excluding:)``.
    public func changes(
        since cursor: StorageCursor? = nil,
        excluding origin: StorageOrigin? = nil
    ) -> StorageChangeFeed {
        StorageChangeFeed(engine: self, cursor: cursor, origin: origin)
    }
}
