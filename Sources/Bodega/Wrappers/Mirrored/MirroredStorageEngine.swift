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
/// costs two commits of the mirror. If the mirror can't be marked, because it is unreachable, and the program ends
/// before it can be written again, the mirror does not know what it lacks. Then let ``repair(comparingAll:)`` compare
/// all. An item that the base has under that key, because it was a mirror itself, is not copied.
///
/// A write waits for both engines, and other writes wait for it. There is no time limit in addition to those of the
/// engines: a mirror whose calls never end holds up all writes. ``SQLiteStorageEngine`` ends calls that wait for a
/// lock, and the engine for PostgreSQL those that are not answered. Calls of files end when the file system does, so a
/// folder on a network drive is not a good mirror. Reads don't wait for writes.
///
/// Write only through one such engine, in one process. The mirror does not receive what other writers change in the
/// base, until it is repaired or refreshed: ``refresh()`` reads the base with one call, which suits an API. Change
/// feeds, and reads of items with their dates, are those of the base.
public struct MirroredStorageEngine<Base: StorageEngine, Mirror: StorageEngine>: ForwardingStorageEngine {
    public let base: Base
    /// The engine that holds the copy.
    public let mirror: Mirror

    let contents: MirrorContents<Mirror>
    let lock = AsyncLock()
    let repairs = AsyncLock()
    let state = Locked(MirrorState())
    let readingMirror: MirrorReading
    let basePause: StoragePause
    let mirrorPause: StoragePause

    init(
        base: Base, mirror: Mirror, readingMirror: MirrorReading, pause: Duration, clock: any Clock<Duration>
    ) {
        (self.base, self.mirror, contents) = (base, mirror, MirrorContents(base: mirror))
        self.readingMirror = readingMirror
        basePause = StoragePause(duration: pause, clock: clock)
        mirrorPause = StoragePause(duration: pause, clock: clock)
    }

    /// Whether the mirror has all items that were written by calls that have returned. Until the first write or the
    /// first read from the mirror, the engine does not know, and returns `false`.
    public var isMirrorComplete: Bool { state.withLock { $0.isReadable && !$0.isPartial } }

    public func forward<Value>(_ call: StorageCall, _ body: () async throws -> Value) async throws -> Value {
        // A write without operations may return because an earlier one that has thrown was applied.
        let isChange = call.count > 0 || call.operation == .removeAll || state.withLock { $0.lacksChanges }
        guard call.operation.isWrite, isChange else {
            return try await noticingEvictions(body)
        }
        return try await lock.withLock {
            await markIncomplete()
            let operations = call.operations.filter { !MirrorMark.isKey(of: $0) }
            do {
                let value = try await noticingEvictions(body)
                basePause.end()
                // A conditional batch returns whether it was applied.
                await complete(with: value as? Bool == false ? [] : operations)
                return value
            } catch {
                // The write may have been applied.
                state.withLock { $0.lose(operations) }
                // In a task of its own, because this one may have been cancelled.
                await Task { await markOutdated() }.value
                throw error
            }
        }
    }

    /// Performs a call of the base. The mirror lacks the removal of what that evicts, until it is compared.
    func noticingEvictions<Value>(_ body: () async throws -> Value) async throws -> Value {
        let inner = InnerCall()
        defer { state.withLock { $0.lose(inner.evictedKeys.map { .remove(key: $0) }) } }
        return try await inner(body)
    }

    /// Performs a call of the mirror. What the mirror loses does not concern the readers of this engine.
    ///
    /// - Parameters:
    ///   - needsOriginal: Whether the result must come from the mirror itself.
    ///   - isPausing: Whether the mirror is not written for a while after an error that may be temporary.
    func callMirror<Value>(
        needsOriginal: Bool = false, pausing isPausing: Bool = true, _ body: () async throws -> Value
    ) async throws -> Value {
        let call = InnerCall(ofSecondEngine: needsOriginal) { [state] loss in state.withLock { $0.learn(loss) } }
        do {
            return try await call(body)
        } catch {
            if isPausing, StorageRetryPolicy.isTemporary(error) { mirrorPause.begin() }
            throw error
        }
    }
}

extension MirroredStorageEngine: DatedStorageEngine where Base: DatedStorageEngine {}
extension MirroredStorageEngine: ConditionalStorageEngine where Base: ConditionalStorageEngine {

    /// Applies operations if items are in the expected state. See ``ConditionalStorageEngine/apply(_:if:)``.
    ///
    /// If they are not, the mirror gets the items of the conditions, so that the next read returns their state.
    public func apply(_ operations: [StorageOperation], if conditions: [StorageCondition]) async throws -> Bool {
        let wasApplied = try await forward(StorageCall(.applyIf, .operations(operations))) {
            try await base.apply(operations, if: conditions)
        }
        // Other reads than those of the mirror have found the state already.
        if !wasApplied, readingMirror == .first { await copyChanged(conditions.map(\.key)) }
        return wasApplied
    }
}

extension MirroredStorageEngine: ObservableStorageEngine where Base: ObservableStorageEngine {}

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
    public func mirrored<Mirror: StorageEngine>(
        to mirror: Mirror, readingMirror: MirrorReading = .whenBaseFails, pausing pause: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> MirroredStorageEngine<Self, Mirror> {
        MirroredStorageEngine(base: self, mirror: mirror, readingMirror: readingMirror, pause: pause, clock: clock)
    }
}
