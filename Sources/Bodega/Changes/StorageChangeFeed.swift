/// The changes of an engine as a sequence without an end, see ``ObservableStorageEngine/changes(since:excluding:)``.
public struct StorageChangeFeed: AsyncSequence, Sendable {
    public typealias Element = StorageUpdate
    public typealias Failure = any Error

    let engine: any ObservableStorageEngine
    let cursor: StorageCursor?
    let origin: StorageOrigin?

    public func makeAsyncIterator() -> Iterator {
        Iterator(engine: engine, cursor: cursor, origin: origin, signals: engine.changeSignals().makeAsyncIterator())
    }

    /// Reads news one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let engine: any ObservableStorageEngine
        /// The place behind everything that was told, and behind what was left out because nobody but the reader had
        /// changed it. The latter is in no news, so who follows besides his own changes may find this one further on than
        /// the cursor of the last news. It can be kept whenever those are dealt with. `nil` before the first snapshot.
        public private(set) var cursor: StorageCursor?
        let origin: StorageOrigin?
        var signals: AsyncStream<Void>.Iterator
        /// Whether there may be more to read without a signal.
        private var mayHaveMore = false

        init(
            engine: any ObservableStorageEngine,
            cursor: StorageCursor?,
            origin: StorageOrigin?,
            signals: AsyncStream<Void>.Iterator
        ) {
            self.engine = engine
            self.cursor = cursor
            self.origin = origin
            self.signals = signals
        }

        /// The next news, waiting for them.
        ///
        /// - Returns: `nil` when the task is cancelled or the engine closed.
        /// - Throws: A ``StorageError`` if they could not be read. The iterator stays where it is.
        public mutating func next() async throws -> StorageUpdate? {
            do {
                return try await findNext()
            } catch {
                // A signal from before the engine was closed may have led here. A closed one gives no new signals.
                var probe = engine.changeSignals().makeAsyncIterator()
                guard await probe.next() != nil else { return nil }
                throw error
            }
        }

        private mutating func findNext() async throws -> StorageUpdate? {
            while true {
                // Who always finds more to read never waits for a signal, which would end with the task.
                if Task.isCancelled { return nil }
                guard let cursor else { return .snapshot(try await takeSnapshot()) }
                if mayHaveMore {
                    guard let delta = try await engine.fetchChanges(since: cursor, excluding: origin) else {
                        return .snapshot(try await takeSnapshot())
                    }
                    mayHaveMore = !delta.isComplete
                    self.cursor = delta.cursor
                    if !delta.changes.isEmpty { return .changes(delta) }
                    if mayHaveMore { continue }
                }
                guard await signals.next() != nil else { return nil }
                mayHaveMore = true
            }
        }

        private mutating func takeSnapshot() async throws -> StorageSnapshot {
            let snapshot = try await engine.fetchSnapshot()
            cursor = snapshot.cursor
            return snapshot
        }
    }
}
