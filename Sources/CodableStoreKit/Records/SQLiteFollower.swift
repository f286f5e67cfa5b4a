import Bodega
import Dispatch
import Foundation
import Logging

/// Reports changes of other writers in a collection of an SQLite file to observers.
///
/// 1. ``begin()`` registers an observer of commits through the same file, and starts a `ChangeFollower`.
/// 2. A commit through the same file is reported by that observer, on the writing connection.
/// 3. After a signal, ``catchUp()`` reads the changes after the cursor on the writing connection, so that none of
///    step 2 comes in between, and reports those that step 2 has not reported.
/// 4. When the file was removed, replaced or closed, the follower moves to the collection that takes its place.
///
/// So all changes are reported in the order of the commits. Observers of a removed object receive the object. The file
/// doesn't contain it any more, so all records are kept in memory while there are observers.
///
/// `state` guards the collection, the cursor and the known records. It is not locked while observers are called.
final class SQLiteFollower: Sendable {

    private struct State: Sendable {
        var collection: SQLiteCollection
        /// The position in the log up to which all changes are reported, `nil` if the log can't be read yet.
        var cursor: StorageCursor?
        var known = KnownRecords()
        /// Whether the signals of the collection have ended.
        var isClosed = false
        var endOfEffects: (@Sendable () -> Void)?
        var hasEnded = false
    }

    /// Replaces a collection that can't be used any more.
    ///
    /// - Returns: Whether there is a replacement. If it throws, there may be one later.
    typealias Replace = @Sendable (SQLiteCollection, StorageError) throws -> Bool

    private let state: Locked<State>
    private let follower = ChangeFollower()
    private let replace: Replace
    private let report: @Sendable ([SQLiteEffect]) -> Void

    init(
        _ collection: SQLiteCollection,
        replace: @escaping Replace,
        _ report: @escaping @Sendable ([SQLiteEffect]) -> Void
    ) {
        state = Locked(State(collection: collection))
        self.replace = replace
        self.report = report
    }

    /// Begins to report changes from now on.
    func begin() {
        let collection = state.withLock { $0.collection }
        follower.begin("\(collection.url.path)", logger: codableStoreLogger) { [weak self] in
            guard let self else { return }
            // Reading blocks.
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(with: Result { try self.catchUp() }) }
            }
        }
        begin(with: collection)
    }

    private func begin(with collection: SQLiteCollection) {
        let endOfEffects = collection.follow { [self] effects in
            let isFollowed = state.withLock { state in
                guard state.collection === collection else { return false }
                for effect in effects { state.known.note(effect) }
                return true
            }
            if isFollowed { report(effects) }
        }
        do {
            _ = try cursor(of: collection)
        } catch {
            codableStoreLogger.notice(
                "Changes of other processes can't be followed yet. Retrying…",
                metadata: ["file": "\(collection.url.path)", "error": "\(error)"]
            )
        }
        let signals = collection.changeSignals()
        let isOver = state.withLock { state in
            // The collection may have been replaced in the meantime.
            guard state.collection === collection, !state.hasEnded else { return true }
            state.endOfEffects = endOfEffects
            follower.follow(signals) { [weak self] in self?.noteClosing(of: collection) }
            return false
        }
        if isOver { endOfEffects() }
    }

    private func noteClosing(of collection: SQLiteCollection) {
        state.withLock { if $0.collection === collection { $0.isClosed = true } }
        follower.catchUp()
    }

    /// Ends the reports.
    func end() {
        follower.end()
        let endOfEffects = state.withLock { state in
            defer { state.endOfEffects = nil }
            state.hasEnded = true
            return state.endOfEffects
        }
        endOfEffects?()
    }

    /// Follows another collection, which replaces one. Does nothing if that one has been replaced already.
    func move(from old: SQLiteCollection, to collection: SQLiteCollection) {
        let moved = state.withLock { state -> State? in
            guard state.collection === old, !state.hasEnded else { return nil }
            defer { state = State(collection: collection) }
            return state
        }
        guard let moved else { return }
        moved.endOfEffects?()
        begin(with: collection)
    }

    /// Notes committed operations of this collection, which their caller reports to the observers.
    func note(_ operations: [StorageOperation]) {
        state.withLock { state in for operation in operations { state.known.note(operation) } }
    }

    /// Reports changes of other writers, or moves on from a collection that can't be used any more.
    private func catchUp() throws {
        let (collection, isClosed, hasEnded) = state.withLock { ($0.collection, $0.isClosed, $0.hasEnded) }
        if hasEnded { return }
        if isClosed {
            // Without a replacement there is nothing to follow.
            _ = try replace(collection, StorageError(.closed, "The file was closed."))
            return
        }
        do {
            try reportUpdate(of: collection)
        } catch let error as StorageError where error.mayMeanReplacedFile {
            guard try replace(collection, error) else { throw error }
        }
    }

    private func reportUpdate(of collection: SQLiteCollection) throws {
        // A removed or replaced file is readable through connections that are open.
        try collection.checkPlace()
        guard let cursor = try cursor(of: collection) else { return }
        if !state.withLock({ $0.known.areRead }) {
            let (items, changed) = try collection.allItems(since: cursor)
            state.withLock { state in
                if state.collection === collection { state.known.read(items, changed: changed) }
            }
        }
        try collection.readUpdate(since: cursor) { update in
            let effects = state.withLock { state -> [SQLiteEffect] in
                guard state.collection === collection else { return [] }
                state.cursor = update.cursor
                return state.known.apply(update)
            }
            if !effects.isEmpty { report(effects) }
        }
    }

    /// The position up to which all changes are reported. If there is none yet, it is the end of the log, and remains
    /// so if a later step fails.
    ///
    /// - Returns: `nil` if the collection was replaced in the meantime.
    private func cursor(of collection: SQLiteCollection) throws -> StorageCursor? {
        if let cursor = state.withLock({ $0.collection === collection ? $0.cursor : nil }) { return cursor }
        let now = try collection.cursor()
        return state.withLock { state in
            guard state.collection === collection else { return nil }
            if state.cursor == nil { state.cursor = now }
            return state.cursor
        }
    }
}

extension StorageError {
    /// Whether the error can mean that a file must be opened again: new connections to removed files can't be opened,
    /// and another thread may have closed the engine.
    var mayMeanReplacedFile: Bool { [.placeRemoved, .cannotOpen, .closed].contains(code) }
}
