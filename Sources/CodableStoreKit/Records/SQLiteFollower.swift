import Bodega
import Dispatch
import Foundation
import Logging

/// Reports changes of other writers in a collection of an SQLite file to observers.
///
/// 1. ``begin()`` finds the place in the collection's log from which to follow, or that there is no collection, and
///    observes commits through the same file. It creates the file and the log, but no collection.
/// 2. A commit through the same file is reported by that observer, on the writing connection.
/// 3. After a signal, ``catchUp()`` reads the changes after the place on the writing connection, so that none of
///    step 2 comes in between, and reports those that step 2 has not reported.
/// 4. If step 3 finds another table, because the collection was created, removed, or both, it reads all records and
///    reports how they differ from those that the observers know. From then on, step 2 observes commits to that table.
/// 5. When the file was removed, replaced or closed, the follower moves to the collection that takes its place.
///
/// So all changes are reported in the order of the commits, and the reports lead to what is stored. Observers of a
/// removed object receive the object. The file doesn't contain it any more, so all records are kept in memory while
/// there are observers.
///
/// `state` guards the collection, the place and the known records. It is not locked while observers are called.
/// `listening` orders the changes of the signals that are followed.
final class SQLiteFollower: Sendable {

    private struct State: Sendable {
        /// The collection, `nil` if it could not be opened yet.
        var collection: SQLiteCollection?
        /// The place up to which all changes are reported, `nil` before one was found.
        var place: SQLiteFollowedState?
        var known = KnownRecords()
        /// Whether the signals of the collection have ended.
        var isClosed = false
        /// Ends the observation of commits through the same file.
        var endOfCommits: (@Sendable () -> Void)?
        var hasEnded = false
    }

    /// Opens the collection, and creates its file if necessary.
    typealias Open = @Sendable () throws -> SQLiteCollection?

    /// Replaces a collection that can't be used any more.
    ///
    /// - Returns: Whether there is a replacement. If it throws, there may be one later.
    typealias Replace = @Sendable (SQLiteCollection, StorageError) throws -> Bool

    private let state = Locked(State())
    private let listening = NSLock()
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

    /// Finds the place from which to follow a collection. A no-op if another thread has done so.
    private func register(with collection: SQLiteCollection) throws {
        let (place, items) = try collection.followedPlace()
        // The commits from now on. Those since the place are in the log, and no observer was notified of them.
        let endOfCommits = observeCommits(of: collection, at: place)
        let isFollowed = state.withLock { state in
            // The collection may have been replaced in the meantime.
            guard state.collection === collection, state.place == nil, !state.hasEnded else { return false }
            // What this process has reported by now may be older than the place. Then all records are compared.
            let mustCompare = state.known.haveReports
            // The records of a large collection are read later.
            if let items { state.known.read(items, changed: []) }
            state.place = mustCompare ? .nowhere : place
            if !mustCompare { state.endOfCommits = endOfCommits }
            return !mustCompare
        }
        if !isFollowed { endOfCommits?() }
        listen()
    }

    private func observeCommits(
        of collection: SQLiteCollection, at place: SQLiteFollowedState
    ) -> (@Sendable () -> Void)? {
        collection.observeCommits(at: place) { [weak self] effects in
            guard let self else { return }
            let isFollowed = state.withLock { state in
                guard state.collection === collection else { return false }
                for effect in effects { state.known.note(effect) }
                return true
            }
            if isFollowed { report(effects) }
        }
    }

    /// Follows the signals for the current place.
    private func listen() {
        // The last call, which finds the newest place, has effect last.
        listening.withLock {
            let (collection, place) = state.withLock { $0.hasEnded ? (nil, nil) : ($0.collection, $0.place) }
            guard let collection, let place else { return }
            follower.follow(collection.changeSignals(at: place)) { [weak self] in self?.noteClosing(of: collection) }
        }
    }

    private func noteClosing(of collection: SQLiteCollection) {
        state.withLock { if $0.collection === collection { $0.isClosed = true } }
        follower.catchUp()
    }

    /// Ends the reports.
    func end() {
        follower.end()
        let endOfCommits = state.withLock { state in
            defer { state.endOfCommits = nil }
            state.hasEnded = true
            return state.endOfCommits
        }
        endOfCommits?()
    }

    /// Follows another collection, which replaces one. Does nothing if that has been done.
    func move(to collection: SQLiteCollection) {
        let moved = state.withLock { state -> State? in
            guard state.collection !== collection, !state.hasEnded else { return nil }
            defer { state = State(collection: collection) }
            return state
        }
        guard let moved else { return }
        moved.endOfCommits?()
        tryToRegister()
    }

    /// Notes committed operations of this collection, which their caller reports to the observers.
    func note(_ operations: [StorageOperation]) {
        state.withLock { state in for operation in operations { state.known.note(operation) } }
    }

    /// Reports changes of other writers, or moves on from a collection that can't be used any more.
    func catchUp() throws {
        // An ended follower creates nothing.
        guard !state.withLock({ $0.hasEnded }), let collection = try collection() else { return }
        let (place, isClosed) = state.withLock { ($0.place, $0.isClosed) }
        if isClosed {
            // Without a replacement there is nothing to follow.
            _ = try replace(collection, StorageError(.closed, "The file was closed."))
            return
        }
        do {
            // The signals that are followed from then on begin with one.
            guard let place else { return try register(with: collection) }
            // A removed or replaced file is readable through connections that are open.
            try collection.checkPlace()
            let (areRead, areNone) = state.withLock { ($0.known.areRead, $0.known.areNone) }
            // Every commit to the file is signaled, and most are of other collections. They need not wait for this.
            if areNone, !place.isOfCollection, try !collection.exists() { return }
            if !areRead { try readAll(of: collection, since: place) }
            try reportUpdate(of: collection, since: place)
        } catch let error as StorageError where error.mayMeanReplacedFile {
            guard try replace(collection, error) else { throw error }
        }
    }

    private func readAll(of collection: SQLiteCollection, since place: SQLiteFollowedState) throws {
        guard let (items, changed) = try collection.allItems(since: place) else { return }
        state.withLock { state in
            if state.collection === collection { state.known.read(items, changed: changed) }
        }
    }

    private func reportUpdate(of collection: SQLiteCollection, since place: SQLiteFollowedState) throws {
        var hasMoved = false
        try collection.readUpdate(since: place) { update in
            hasMoved = !update.place.isInTable(of: place)
            let endOfCommits = hasMoved ? observeCommits(of: collection, at: update.place) : nil
            let (effects, ended) = state.withLock { state -> ([SQLiteEffect], (@Sendable () -> Void)?) in
                guard state.collection === collection, !state.hasEnded else { return ([], endOfCommits) }
                defer { state.place = update.place }
                guard hasMoved else { return (state.known.apply(update), nil) }
                defer { state.endOfCommits = endOfCommits }
                return (state.known.apply(update), state.endOfCommits)
            }
            ended?()
            if !effects.isEmpty { report(effects) }
        }
        if hasMoved { listen() }
    }
}

extension StorageError {
    /// Whether the error can mean that a file must be opened again: new connections to removed files can't be opened,
    /// and another thread may have closed the engine.
    var mayMeanReplacedFile: Bool {
        !isOfRemovedCollection && [.placeRemoved, .cannotOpen, .closed].contains(code)
    }
}
