import Foundation
import Logging

/// When a ``MirroredStorageEngine`` reads its mirror.
public enum MirrorReading: Sendable {
    /// Reads go to the base, and to the mirror if the base fails. They see what others have changed in the base.
    case whenBaseFails
    /// Reads go to the mirror, and to the base only if the mirror can't be read or is incomplete. They see what others have
    /// changed in the base after ``MirroredStorageEngine/refresh()``.
    case first
}

/// An engine whose items are also in a mirror, which is read when the engine fails.
/// ``StorageEngine/mirrored(to:readingMirror:pausing:clock:)`` creates one.
///
/// - **Writes** go to the base, then to the mirror, one after the other. The base decides: if it fails, the call throws its
///   error. If only the mirror fails, the call succeeds, and the failure is logged; the next writes bring the mirror what it
///   lacks. A write that has thrown may be in only one of them until the next write.
/// - **Reads** go to the base. If that fails, they go to the mirror, unless it may lack a write that has returned. After an
///   error that may be temporary, the base is not read again for ten seconds. With ``MirrorReading/first`` it is the other
///   way round: reads go to the mirror, and to the base only if the mirror can't be read or may lack such a write.
/// - **Repair**: after a program has ended during a write, or while the mirror could not be written, call
///   ``repair(comparingAll:)``. Until then the mirror is not read, and a read that the base can't answer throws the base's
///   error.
///
/// The mirror is a copy that can be opened without its base, with the same keys and items, but with its own order and its own
/// dates. It also holds an item with the key `emporium.mirror`, which tells whether the mirror is complete: each write marks
/// the mirror as incomplete before, and as complete in the batch that brings it the change, so it costs two commits of the
/// mirror. If the mirror can't be marked, because it is unreachable, and the program ends before it can be written again, the
/// mirror does not know what it lacks. Then let ``repair(comparingAll:)`` compare all. An item that the base has under that
/// key, because it was a mirror itself, is not copied.
///
/// A write waits for both engines, and other writes wait for it. There is no time limit in addition to those of the engines:
/// a mirror whose calls never end holds up all writes. ``SQLiteStorageEngine`` ends calls that wait for a lock, and the
/// engine for PostgreSQL those that are not answered. Calls of files end when the file system does, so a folder on a network
/// drive is not a good mirror. Reads don't wait for writes.
///
/// Write only through one such engine, in one process. The mirror does not receive what other writers change in the base,
/// until it is repaired or refreshed: ``refresh()`` reads the base with one call, which suits an API. Change feeds, and reads
/// of items with their dates, are those of the base.
public struct MirroredStorageEngine<Base: StorageEngine, Mirror: StorageEngine>: ForwardingStorageEngine {
    public let base: Base
    /// The engine that holds the copy.
    public let mirror: Mirror

    let contents: MirrorContents<Mirror>
    let lock = AsyncLock()
    private let repairs = AsyncLock()
    let state = Locked(MirrorState())
    let readingMirror: MirrorReading
    let basePause: StoragePause
    private let mirrorPause: StoragePause

    init(
        base: Base, mirror: Mirror, readingMirror: MirrorReading, pause: Duration, clock: any Clock<Duration>
    ) {
        (self.base, self.mirror, contents) = (base, mirror, MirrorContents(base: mirror))
        self.readingMirror = readingMirror
        basePause = StoragePause(duration: pause, clock: clock)
        mirrorPause = StoragePause(duration: pause, clock: clock)
    }

    /// Whether the mirror has all items that were written by calls that have returned. Until the first write or the first
    /// read from the mirror, the engine does not know, and returns `false`.
    public var isMirrorComplete: Bool { state.withLock { $0.isReadable } }

    public func forward<Value>(_ call: StorageCall, _ body: () async throws -> Value) async throws -> Value {
        guard call.operation.isWrite, call.count > 0 || call.operation == .removeAll else {
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
}

// Writing to the mirror. The lock is held.
extension MirroredStorageEngine {

    /// Writes an item in parts. See ``StorageEngine/write(stream:key:)``.
    ///
    /// The stream is read into memory, because both engines need it.
    public func write(stream: StorageByteStream, key: CacheKey) async throws {
        try await write(stream.data(), key: key)
    }

    private func markIncomplete() async {
        guard !mirrorPause.isActive else { return }
        do {
            try await prepare()
            guard state.withLock({ $0.mark != .incomplete }) else { return }
            try await mirror.write(MirrorMark.incomplete.data, key: MirrorMark.key)
            state.withLock { $0.mark = .incomplete }
        } catch {
            mirrorFailed(error)
        }
    }

    /// Makes the mirror readable for the next program after the base has failed, since no write has returned that it lacks.
    private func markOutdated() async {
        guard !mirrorPause.isActive, state.withLock({ $0.mark == .incomplete && $0.isReadable }) else { return }
        do {
            try await mirror.write(MirrorMark.outdated.data, key: MirrorMark.key)
            state.withLock { $0.mark = .outdated }
        } catch {
            mirrorFailed(error)
        }
    }

    /// Finds out what the mirror says about itself. A mirror that says nothing is complete if there are no items.
    func prepare() async throws {
        guard state.withLock({ $0.mark == nil }) else { return }
        let mark: MirrorMark = try await InnerCall.original {
            if let data = try await mirror.fetch(key: MirrorMark.key) { return MirrorMark(data) }
            if try await mirror.fetchCount() > 0 { return .incomplete }
            return try await base.fetchCount() == 0 ? .complete : .incomplete
        }
        state.withLock { $0.learn(mark) }
    }

    /// Brings the mirror a change, and what it has missed before.
    private func complete(with operations: [StorageOperation]) async {
        guard !mirrorPause.isActive, state.withLock({ $0.mark != nil }) else {
            return state.withLock { $0.lose(operations, wasReturned: true) }
        }
        do {
            try await copyMissing()
            if let mark = state.withLock({ $0.markAfterWrite }), !lock.hasWaiting {
                try await mirror.apply(operations + [.write(key: MirrorMark.key, data: mark.data)])
                state.withLock { $0.mark = mark }
            } else if !operations.isEmpty {
                try await mirror.apply(operations)
            }
            mirrorPause.end()
        } catch {
            state.withLock { $0.lose(operations, wasReturned: true) }
            mirrorFailed(error)
        }
    }

    /// Copies the items that the mirror has missed. Returns the number of differences.
    @discardableResult
    private func copyMissing() async throws -> Int {
        let keys = Array(state.withLock { $0.missing })
        var count = 0
        for start in stride(from: 0, to: keys.count, by: 500) {
            count += try await copy(Array(keys[start..<min(start + 500, keys.count)]))
        }
        state.withLock { $0.foundMissing() }
        return count
    }

    /// Makes the mirror's items under some keys equal to those of the base. Returns the number of differences.
    private func copy(_ keys: [CacheKey]) async throws -> Int {
        let keys = keys.filter { $0 != MirrorMark.key }
        // Each of the engines may have copies of its own.
        let (items, read) = try await InnerCall.original {
            let items = Dictionary(try await base.fetch(keys: keys).map { ($0.key, $0.data) }) { $1 }
            return (items, try await PartialRead(from: mirror) { try await $0.fetch(keys: keys) })
        }
        let copies = Dictionary(read.value.map { ($0.key, $0.data) }) { $1 }
        // A copy that can't be read is replaced like one that differs.
        let unreadable = Set(read.unreadable.compactMap(\.key))
        let operations = keys.compactMap { key -> StorageOperation? in
            if items[key] == copies[key], !unreadable.contains(key) { return nil }
            return items[key].map { .write(key: key, data: $0) } ?? .remove(key: key)
        }
        if !operations.isEmpty { try await mirror.apply(operations) }
        return operations.count
    }

    private func mirrorFailed(_ error: any Error) {
        if StorageRetryPolicy.isTemporary(error) { mirrorPause.begin() }
        bodegaLogger.warning(
            "A mirror could not be written. The next writes try again.", metadata: ["error": "\(error)"])
    }
}

// Repairing.
extension MirroredStorageEngine {

    /// Makes the items of the mirror equal to those of the base.
    ///
    /// If the mirror is known to lack only single items, those are copied. Otherwise all items are compared, 500 at a time;
    /// other calls go on in between. If the call fails, the mirror remains incomplete; call it again.
    ///
    /// - Parameter comparingAll: Whether to compare all items even if the mirror says that it is complete.
    /// - Returns: The number of items that were written to the mirror or removed from it.
    /// - Throws: The error of the engine that failed.
    @discardableResult
    public func repair(comparingAll: Bool = false) async throws -> Int {
        try await repairs.withLock {
            let mustCompare = try await lock.withLock {
                try await prepare()
                if comparingAll { state.withLock { $0.needsComparison = true } }
                return state.withLock { $0.needsComparison }
            }
            var count = 0
            if mustCompare {
                try await lock.withLock {
                    try await mirror.write(MirrorMark.incomplete.data, key: MirrorMark.key)
                    state.withLock { $0.beginComparison() }
                }
                count += try await copyInParts(InnerCall.original(base.fetchKeys))
                count += try await copyInParts(InnerCall.original(contents.fetchKeys))
            }
            return try await lock.withLock {
                count += try await copyMissing()
                guard state.withLock({ $0.endComparison() }) else {
                    throw StorageError(
                        .unreachable, "The mirror failed while it was repaired. Call repair() again when it is back.")
                }
                try await mirror.write(MirrorMark.complete.data, key: MirrorMark.key)
                state.withLock { $0.mark = .complete }
                mirrorPause.end()
                return count
            }
        }
    }

    /// Makes the items of the mirror equal to those of the base, which is read with one call.
    ///
    /// Call it from time to time if others change the items of the base, as with an API. All items must fit into memory, and
    /// writes wait until it has ended; ``repair(comparingAll:)`` reads 500 items at a time instead. The mirror changes with
    /// one batch: if that is atomic, a refresh that fails changes nothing, and the mirror can still be read.
    ///
    /// - Returns: The number of items that were written to the mirror or removed from it.
    /// - Throws: The error of the engine that failed.
    @discardableResult
    public func refresh() async throws -> Int {
        try await repairs.withLock {
            try await lock.withLock {
                let items = try await InnerCall.original(base.fetchAll).filter { $0.key != MirrorMark.key }
                basePause.end()
                // A copy that can't be read is replaced like one that differs.
                let read = try await InnerCall.original { [contents] in
                    try await PartialRead(from: contents) { try await $0.fetchAll() }
                }
                var copies: [CacheKey: Data?] = [:]
                for (key, data) in read.value { copies[key] = data }
                for key in read.unreadable.compactMap(\.key) { copies.updateValue(nil, forKey: key) }
                var operations: [StorageOperation] = []
                for (key, data) in items where copies.removeValue(forKey: key) != data {
                    operations.append(.write(key: key, data: data))
                }
                operations += copies.keys.map { .remove(key: $0) }
                try await mirror.apply(operations + [.write(key: MirrorMark.key, data: MirrorMark.complete.data)])
                state.withLock { $0.wasReplaced() }
                mirrorPause.end()
                return operations.count
            }
        }
    }

    private func copyInParts(_ keys: [CacheKey]) async throws -> Int {
        var count = 0
        for start in stride(from: 0, to: keys.count, by: 500) {
            count += try await lock.withLock { try await copy(Array(keys[start..<min(start + 500, keys.count)])) }
        }
        return count
    }
}

extension MirroredStorageEngine: DatedStorageEngine where Base: DatedStorageEngine {}
extension MirroredStorageEngine: ConditionalStorageEngine where Base: ConditionalStorageEngine {}
extension MirroredStorageEngine: ObservableStorageEngine where Base: ObservableStorageEngine {}

extension StorageEngine {

    /// Returns an engine that keeps a copy of its items in another engine, and reads that when this engine fails.
    ///
    /// ```swift
    /// let notes = try SQLiteStorageEngine(opening: directory).mirrored(to: SQLiteStorageEngine(opening: backupDirectory))
    /// try await notes.repair()
    /// ```
    ///
    /// For items that others change, such as those of an API, let reads go to the mirror, and refresh it from time to time.
    /// Reads then need no network, and return the state of the last refresh and of the writes since:
    ///
    /// ```swift
    /// let notes = api.mirrored(to: local, readingMirror: .first)
    /// try await notes.refresh()
    /// ```
    ///
    /// - Parameters:
    ///   - mirror: The engine for the copy, used for nothing else.
    ///   - readingMirror: When the mirror is read.
    ///   - pause: The time for which an engine is not called after an error that may be temporary; for writes, this applies
    ///     only to the mirror.
    ///   - clock: The clock of the pause.
    public func mirrored<Mirror: StorageEngine>(
        to mirror: Mirror, readingMirror: MirrorReading = .whenBaseFails, pausing pause: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> MirroredStorageEngine<Self, Mirror> {
        MirroredStorageEngine(base: self, mirror: mirror, readingMirror: readingMirror, pause: pause, clock: clock)
    }
}
