/// An endless sequence of the changes of an engine, see ``StorageBackend/changes(since:excluding:)``.
public struct StorageChangeFeed: AsyncSequence, Sendable {
    public typealias Element = StorageUpdate
    public typealias Failure = any Error

    let engine: any StorageBackend
    let cursor: StorageCursor?
    let origin: StorageOrigin?

    public func makeAsyncIterator() -> Iterator {
        Iterator(engine: engine, cursor: cursor, origin: origin, signals: engine.changeSignals().makeAsyncIterator())
    }

    /// Reads one update after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let engine: any StorageBackend
        /// The cursor after everything that was reported or omitted. Omitted changes are in no update, so a reader that
        /// excludes an origin may find this cursor beyond that of the last update. It can be saved once that update is
        /// handled. `nil` before the first snapshot.
        public private(set) var cursor: StorageCursor?
        let origin: StorageOrigin?
        var signals: AsyncStream<Void>.Iterator
        /// Whether there may be more to read without a signal.
        private var mayHaveMore = false

        init(
            engine: any StorageBackend,
            cursor: StorageCursor?,
            origin: StorageOrigin?,
            signals: AsyncStream<Void>.Iterator
        ) {
            self.engine = engine
            self.cursor = cursor
            self.origin = origin
            self.signals = signals
        }

        /// Waits for the next update.
        ///
        /// - Returns: `nil` when the task is cancelled or the engine is closed.
        /// - Throws: A ``StorageError`` if it could not be read. The iterator stays where it is.
        public mutating func next() async throws -> StorageUpdate? {
            do {
                return try await findNext()
            } catch {
                // A signal from before the engine was closed may have led here. A closed engine gives no new signals.
                var probe = engine.changeSignals().makeAsyncIterator()
                guard await probe.next() != nil else { return nil }
                throw error
            }
        }

        private mutating func findNext() async throws -> StorageUpdate? {
            while true {
                // A reader that always finds more never waits for a signal, whose stream would end with the task.
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

extension StorageBackend {

    /// The changes from a cursor on, then each later one.
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
    /// - Parameters:
    ///   - cursor: The cursor; `nil` to begin with a snapshot.
    ///   - origin: The origin whose own changes are omitted if there are no others.
    public func changes(
        since cursor: StorageCursor? = nil, excluding origin: StorageOrigin? = nil
    ) -> StorageChangeFeed {
        StorageChangeFeed(engine: self, cursor: cursor, origin: origin)
    }
}
