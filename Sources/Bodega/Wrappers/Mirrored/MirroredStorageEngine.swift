/// When a ``MirroredStorageEngine`` reads its mirror.
public enum MirrorReading: Sendable {
    /// Reads go to the base, and to the mirror if the base fails. They see what others have changed in the base.
    case whenBaseFails
    /// Reads go to the mirror, and to the base only if the mirror can't be read or is incomplete. They see what others
    /// have changed in the base after ``MirroredStorageEngine/refresh()``, or after a conditional batch that was
    /// refused because of it.
    case first
}

/// An engine whose items are also in a mirror, which is read when the engine fails.
/// ``StorageEngine/mirrored(to:readingMirror:pausing:clock:)`` creates one.
///
/// - **Writes** go to the base, then to the mirror, one after the other. The base decides: if it fails, the call throws
///   its error. If only the mirror fails, the call succeeds, and the failure is logged; the next writes bring the
///   mirror what it lacks. A write that has thrown may be in only one of them until the next write.
/// - **Reads** go to the base. If that fails, they go to the mirror, unless it may lack a write that has returned.
///   After an error that may be temporary, the base is not read again for ten seconds. With ``MirrorReading/first`` it
///   is the other way round: reads go to the mirror, and to the base only if the mirror can't be read or may lack such
///   a write.
/// - **Losses**: a mirror can have limits of its own, or items that expire. It then answers for the items that it has,
///   and the base for all others. Calls that return all items, keys or their number go to the base as soon as the
///   mirror has lost an item, and throw if the base fails; always, if its items expire. So limits of the mirror save
///   space, not calls.
/// - **Repair**: after a program has ended during a write, or while the mirror could not be written, call
///   ``repair(comparingAll:)``. Until then the mirror is not read, and a read that the base can't answer throws the
///   base's error.
///
/// The mirror is a copy that can be opened without its base, with the same keys and items, but with its own order and
/// its own dates. It also holds an item with the key `emporium.mirror`, which tells whether the mirror is complete:
/// each write marks the mirror as incomplete before, and as complete in the batch that brings it the change, so it
/// costs two commits of the mirror, and four of one that the mirror has itself. If the mirror can't be marked, because
/// it is unreachable, and the program ends before it can be written again, the mirror does not know what it lacks. Then
/// let ``repair(comparingAll:)`` compare all. An item that the base has under that key, because it was a mirror itself,
/// is not copied.
///
/// A write waits for both engines, and other writes wait for it. There is no time limit in addition to those of the
/// engines: a mirror whose calls never end holds up all writes. ``SQLiteStorageEngine`` ends calls that wait for a
/// lock, and the engine for PostgreSQL those that are not answered. Calls of files end when the file system does, so a
/// folder on a network drive is not a good mirror. Reads don't wait for writes, but with ``MirrorReading/first``, reads
/// of the log do: their reader then reads what was changed in the mirror.
///
/// Write only through one such engine, in one process. The mirror does not receive what other writers change in the
/// base, until it is repaired or refreshed: ``refresh()`` reads the base with one call, which suits an API. Change
/// feeds, and reads of items with their dates, are those of the base.
public struct MirroredStorageEngine: ForwardingStorageEngine {
    public let base: any StorageBackend
    /// The engine that holds the copy.
    public let mirror: any StorageBackend

    let contents: MirrorContents
    let lock = AsyncLock()
    let repairs = AsyncLock()
    let state = Locked(MirrorState())
    let readingMirror: MirrorReading
    let basePause: StoragePause
    let mirrorPause: StoragePause

    init(
        base: any StorageBackend, mirror: any StorageBackend, readingMirror: MirrorReading, pause: Duration,
        clock: any Clock<Duration>
    ) {
        (self.base, self.mirror, contents) = (base, mirror, MirrorContents(base: mirror))
        self.readingMirror = readingMirror
        basePause = StoragePause(duration: pause, clock: clock)
        mirrorPause = StoragePause(duration: pause, clock: clock)
        state.withLock { $0.learn(mirror.traits) }
    }

    /// Whether the mirror has all items that were written by calls that have returned. Until the first write or the
    /// first read from the mirror, the engine does not know, and returns `false`.
    public var isMirrorComplete: Bool { state.withLock { $0.isReadable && !$0.isPartial } }

    /// The mirror can't continue what the base has begun by an index, so queries read all items.
    public var indexes: (any StorageIndexes)? { nil }

    /// None. Its batches are those of two engines.
    public var database: (any StorageDatabase)? { nil }

    /// None. What follows from the removal of another item would change the base alone.
    public var references: (any StorageReferences)? { nil }

    /// Those of the base, but changes wait for each other, which ends early when their task is cancelled. Positions are
    /// stable if those of both engines are.
    public var traits: StorageTraits {
        let positions = base.traits.intersection(mirror.traits).intersection(.stablePositions)
        return base.traits.subtracting([.ignoresCancellation, .stablePositions]).union(positions)
    }

    public func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        switch call.operation {
        case .fetchCursor, .fetchChanges:
            // A reader of the log then reads the mirror, which has the change when the write has ended.
            if readingMirror == .first { return try await lock.withLock { try await noticingEvictions(body) } }
        default: break
        }
        return try await noticingEvictions(body)
    }

    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        let answer = try await applying(batch.operations, isRecognized: batch.isRecognized(by: base)) {
            try await base.apply(batch)
        }
        // Other reads than those of the mirror have found the state already.
        if let conditions = batch.conditions, !answer.value.wasApplied, readingMirror == .first {
            await copyChanged(conditions.map(\.key))
        }
        return answer
    }

    /// Changes the base, then the mirror.
    ///
    /// - Parameter isRecognized: Whether the base may have applied the operations earlier, so that its items are read.
    func applying(
        _ operations: [StorageOperation], isRecognized: Bool = false,
        _ body: () async throws -> StorageAnswer<BatchOutcome>
    ) async throws -> StorageAnswer<BatchOutcome> {
        // A write without operations may return because an earlier one that has thrown was applied.
        guard !operations.isEmpty || state.withLock({ $0.lacksChanges }) else {
            return try await noticingEvictions(body)
        }
        return try await lock.withLock {
            await markIncomplete()
            let operations = operations.filter { !MirrorMark.isKey(of: $0) }
            do {
                let answer = try await noticingEvictions(body)
                basePause.end()
                if isRecognized { state.withLock { $0.lose(operations, wasReturned: true) } }
                await complete(with: answer.value.wasApplied && !isRecognized ? operations : [])
                return answer
            } catch {
                // The write may have been applied.
                state.withLock { $0.lose(operations) }
                // In a task of its own, because this one may have been cancelled.
                await Task { await markOutdated() }.value
                throw error
            }
        }
    }

    /// Calls the base. What it removes on its own is missing in the mirror until it is removed there, too. A call that
    /// fails does not say what it has removed.
    func noticingEvictions<Value>(
        _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        let answer: StorageAnswer<Value>
        do {
            answer = try await body()
        } catch {
            if base.traits.contains(.evicts) { state.withLock { $0.mayHaveEvictedItems = true } }
            throw error
        }
        let evicted = answer.report.evicted
        if !evicted.isEmpty { state.withLock { $0.lose(evicted.map { .remove(key: $0) }) } }
        return answer
    }

    /// Calls the mirror, and notices which items it removes on its own.
    func callMirror<Value>(
        pausing isPausing: Bool = true, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        do {
            let answer = try await body()
            if !answer.report.evicted.isEmpty { state.withLock { $0.loseCopy() } }
            return answer
        } catch {
            if isPausing, StorageRetryPolicy.isTemporary(error) { mirrorPause.begin() }
            throw error
        }
    }

    /// Options of reads that compare the two engines, each of which may have copies of its own.
    var original: ReadOptions { ReadOptions(needsOriginal: true) }
}

extension StorageEngine {

    /// Returns an engine that keeps a copy of its items in another engine, and reads that when this engine fails.
    ///
    /// ```swift
    /// let copy = try SQLiteStorageEngine(opening: backupDirectory)
    /// let notes = try SQLiteStorageEngine(opening: directory).mirrored(to: copy)
    /// try await notes.repair()
    /// ```
    ///
    /// For items that others change, such as those of an API, let reads go to the mirror, and refresh it from time to
    /// time. Reads then need no network, and return the state of the last refresh and of the writes since:
    ///
    /// ```swift
    /// let notes = api.mirrored(to: local, readingMirror: .first)
    /// try await notes.refresh()
    /// ```
    ///
    /// - Parameters:
    ///   - mirror: The engine for the copy, used for nothing else.
    ///   - readingMirror: When the mirror is read.
    ///   - pause: The time for which an engine is not called after an error that may be temporary; for writes, this
    ///     applies only to the mirror.
    ///   - clock: The clock of the pause.
    public func mirrored(
        to mirror: any StorageBackend, readingMirror: MirrorReading = .whenBaseFails,
        pausing pause: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> MirroredStorageEngine {
        MirroredStorageEngine(
            base: backend, mirror: mirror.backend, readingMirror: readingMirror, pause: pause, clock: clock)
    }
}
