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
/// 5. When the collection was removed, all of its records are reported as removed, and step 1 creates it again.
///
/// So all changes are reported in the order of the commits. Observers of a removed object receive the object. The file
/// doesn't contain it any more, so all records are kept in memory while there are observers.
///
/// `state` guards the collection, the cursor and the known records. It is not locked while observers are called.
final class SQLiteFollower: Sendable {

    private struct State: Sendable {
        /// The collection, `nil` if it could not be opened yet.
        var collection: SQLiteCollection?
        /// How often the collection had been removed when it was registered with, `nil` before that.
        var removals: Int?
        /// The position in the log up to which all changes are reported, `nil` if the log can't be read yet.
        var cursor: StorageCursor?
        var known = KnownRecords()
        /// Whether the signals of the collection have ended.
        var isClosed = false
        var endOfEffects: (@Sendable () -> Void)?
        var hasEnded = false
    }

    /// Opens the collection, and creates its file if necessary.
    typealias Open = @Sendable () throws -> SQLiteCollection?

    /// Replaces a collection that can't be used any more.
    ///
    /// - Returns: Whether there is a replacement. If it throws, there may be one later.
    typealias Replace = @Sendable (SQLiteCollection, StorageError) throws -> Bool

    private let state = Locked(State())
    private let follower = ChangeFollower()
    private let open: Open
    private let replace: Replace
    private let report: @Sendable ([SQLiteEffect]) -> Void

    init(
        open: @escaping Open, replace: @escaping Replace, _ report: @escaping @Sendable ([SQLiteEffect]) -> Void
    ) {
        self.open = open
        self.replace = replace
        self.report = report
    }

    /// Begins to report changes from now on.
    func begin() {
        follower.begin("CodableStore", logger: codableStoreLogger) { [weak self] in
            guard let self else { return }
            // Reading blocks.
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(with: Result { try self.catchUp() }) }
            }
        }
        tryToRegister()
    }

    /// Registers with the collection now, or when the next attempt to catch up succeeds.
    private func tryToRegister() {
        do {
            if let collection = try collection() { try register(with: collection) }
        } catch {
            codableStoreLogger.notice(
                "Changes of other processes can't be followed yet. Retrying…", metadata: ["error": "\(error)"])
            follower.catchUp()
        }
    }

    private func collection() throws -> SQLiteCollection? {
        if let collection = state.withLock({ $0.collection }) { return collection }
        guard let opened = try open() else { return nil }
        return state.withLock { state in
            if state.collection == nil { state.collection = opened }
            return state.collection
        }
    }

    private func register(with collection: SQLiteCollection) throws {
        let removals = collection.removals
        let endOfEffects = try collection.follow { [self] effects in
            let isFollowed = state.withLock { state in
                guard state.collection === collection else { return false }
                for effect in effects { state.known.note(effect) }
                return true
            }
            if isFollowed { report(effects) }
        }
        let signals: AsyncStream<Void>
        do {
            signals = try collection.changeSignals()
            // The changes from now on.
            _ = try cursor(of: collection)
        } catch {
            endOfEffects()
            throw error
        }
        let isOver = state.withLock { state in
            // The collection may have been replaced in the meantime.
            guard state.collection === collection, state.removals == nil, !state.hasEnded else { return true }
            (state.removals, state.endOfEffects) = (removals, endOfEffects)
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

    /// Follows another collection, which replaces one. Does nothing if that has been done.
    func move(to collection: SQLiteCollection) {
        let moved = state.withLock { state -> State? in
            guard state.collection !== collection, !state.hasEnded else { return nil }
            defer { state = State(collection: collection) }
            return state
        }
        guard let moved else { return }
        moved.endOfEffects?()
        tryToRegister()
    }

    /// Reports that all records were removed together with their collection, and registers with a new one.
    private func registerAgain(with collection: SQLiteCollection) throws {
        let (effects, endOfEffects) = state.withLock { state -> ([SQLiteEffect], (@Sendable () -> Void)?) in
            guard state.collection === collection else { return ([], nil) }
            defer { state = State(collection: collection, hasEnded: state.hasEnded) }
            return (state.known.allRemoved(), state.endOfEffects)
        }
        endOfEffects?()
        if !effects.isEmpty { report(effects) }
        try register(with: collection)
    }

    /// Notes committed operations of this collection, which their caller reports to the observers.
    func note(_ operations: [StorageOperation]) {
        state.withLock { state in for operation in operations { state.known.note(operation) } }
    }

    /// Reports changes of other writers, or moves on from a collection that can't be used any more.
    private func catchUp() throws {
        guard let collection = try collection() else { return }
        let (removals, isClosed, hasEnded) = state.withLock { ($0.removals, $0.isClosed, $0.hasEnded) }
        if hasEnded { return }
        if isClosed {
            // Without a replacement there is nothing to follow.
            _ = try replace(collection, StorageError(.closed, "The file was closed."))
            return
        }
        do {
            if let removals, removals != collection.removals { try registerAgain(with: collection) }
            if removals == nil { try register(with: collection) }
            try reportUpdate(of: collection)
        } catch let error as StorageError where error.isOfRemovedCollection {
            try registerAgain(with: collection)
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
