import Bodega
import Dispatch
import Foundation
import Logging

/// Reports changes of other writers in a collection of an SQLite file to observers.
///
/// 1. ``catchUpFirst()`` opens the collection, finds its place in the log, or that there is no collection, and
///    reads all records. It creates the file and the log, but no collection.
/// 2. Each signal that others may have changed the collection makes the follower catch up: it reads and reports the
///    changes after the place, which moves behind them.
/// 3. An own change of the collection reads the changes of others before it in its own transaction. When it is
///    committed, ``note(_:of:)`` reports those, and the place moves behind the own change, which its caller reports.
/// 4. If step 2 or 3 finds another table, because the collection was created, removed, or both, it reads all records
///    and reports how they differ from those that the observers know. From then on, the follower listens to the signals
///    of that table.
/// 5. When the file was removed, replaced or closed, the follower moves to the collection that takes its place.
///
/// So all changes are reported in the order of the commits, and the reports lead to what is stored. Observers of a
/// removed object receive the object. The file doesn't contain it any more, so all records are kept in memory while
/// there are observers.
///
/// The place and the known records change only on the connection that writes, which orders steps 1 to 4, and when the
/// follower moves. `state` guards them and the collection. It is not locked while observers are called. `listening`
/// orders the changes of the signals that are followed.
final class SQLiteFollower: Sendable {

    private struct State: Sendable {
        /// The collection, `nil` if it could not be opened yet.
        var collection: SQLiteCollection?
        /// The place up to which all changes are reported, `nil` before one was found.
        var place: SQLiteFollowedState?
        var known = KnownRecords()
        /// Whether the place is in another table than the signals that are followed.
        var mustListen = false
        /// Whether the signals of the collection have ended.
        var isClosed = false
        var hasEnded = false
        /// Whether a first attempt to catch up has ended.
        var hasBegun = false

        mutating func move(to next: SQLiteFollowedState) {
            if place?.isInTable(of: next) != true { mustListen = true }
            place = next
        }

        /// - Returns: The effects of the changes after the place.
        mutating func adopt(_ update: SQLiteCollectionUpdate) -> [RecordEffect] {
            defer { move(to: update.place) }
            return known.apply(update.changes(after: place), update.items)
        }
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
    private let report: @Sendable ([RecordEffect]) -> Void

    init(
        open: @escaping Open, replace: @escaping Replace, _ report: @escaping @Sendable ([RecordEffect]) -> Void
    ) {
        self.open = open
        self.replace = replace
        self.report = report
    }

    /// Begins to report changes, from the first time that it catches up.
    func begin() {
        follower.begin("CodableStore", logger: codableStoreLogger) { [weak self] in
            guard let self else { return }
            // Reading blocks.
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(with: Result { try self.catchUp() }) }
            }
        }
    }

    /// Catches up, unless that has been done; at the end of the thread's transaction, if there is one.
    ///
    /// Threads that add the first observers simultaneously all do it: one may wait for a transaction of another.
    func catchUpFirst() {
        if state.withLock({ $0.hasBegun }) { return }
        if let transaction = ThreadTransaction.current { return transaction.afterwards { self.catchUpFirst() } }
        tryToCatchUp()
        state.withLock { $0.hasBegun = true }
    }

    private func tryToCatchUp() {
        do {
            try catchUp()
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

    /// Follows the signals for the place if it is in another table than before.
    private func listen() {
        listening.withLock {
            let target = state.withLock { state -> (SQLiteCollection, SQLiteFollowedState)? in
                guard state.mustListen, !state.hasEnded, let collection = state.collection, let place = state.place
                else { return nil }
                state.mustListen = false
                return (collection, place)
            }
            guard let (collection, place) = target else { return }
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
        state.withLock { $0.hasEnded = true }
    }

    /// Follows another collection, which replaces one. Does nothing if that has been done.
    func move(to collection: SQLiteCollection) {
        let moved = state.withLock { state -> State? in
            guard state.collection !== collection, !state.hasEnded else { return nil }
            defer { state = State(collection: collection, hasBegun: state.hasBegun) }
            return state
        }
        // The former state is released after the lock.
        if moved != nil { tryToCatchUp() }
    }

    /// The place that is reached in a collection, `nil` if there is none.
    func place(in collection: SQLiteCollection) -> SQLiteFollowedState? {
        state.withLock { $0.collection === collection && !$0.hasEnded ? $0.place : nil }
    }

    /// Reports the changes of others before a change that the collection has made itself, which its caller reports.
    func note(_ change: SQLiteOwnChange, of collection: SQLiteCollection) {
        let (effects, mustListen) = state.withLock { state -> ([RecordEffect], Bool) in
            guard state.collection === collection, !state.hasEnded else { return ([], false) }
            let effects = change.earlier.map { state.adopt($0) } ?? []
            let removals = change.removed.map { StorageOperation.remove(key: $0.key) }
            for operation in change.operations + removals { state.known.note(operation) }
            if change.earlier != nil { state.move(to: change.place) }
            return (effects, state.mustListen)
        }
        if !effects.isEmpty { report(effects) }
        if mustListen { follower.catchUp() }
    }

    /// Reports changes of other writers, or moves on from a collection that can't be used any more.
    func catchUp() throws {
        // An ended follower creates nothing.
        guard !state.withLock({ $0.hasEnded }), let collection = try collection() else { return }
        if state.withLock({ $0.isClosed }) {
            // Without a replacement there is nothing to follow.
            _ = try replace(collection, StorageError(.closed, "The file was closed."))
            return
        }
        do {
            // A removed or replaced file is readable through connections that are open.
            try collection.checkPlace()
            // Every commit to the file is signaled, and most are of other collections. They need not wait for this.
            if let place = place(in: collection), !place.isOfCollection, try !collection.exists() { return listen() }
            try reportUpdate(of: collection)
            // The signals that are followed from then on begin with one.
            listen()
        } catch let error as StorageError where error.mayMeanReplacedFile {
            guard try replace(collection, error) else { throw error }
        }
    }

    private func reportUpdate(of collection: SQLiteCollection) throws {
        try collection.readUpdate {
            state.withLock { state in
                state.collection === collection && !state.hasEnded ? state.place ?? .nowhere : nil
            }
        } _: { update in
            let effects = state.withLock { state in
                state.collection === collection && !state.hasEnded ? state.adopt(update) : []
            }
            if !effects.isEmpty { report(effects) }
        }
    }
}

extension StorageError {
    /// Whether the error can mean that a file must be opened again: new connections to removed files can't be opened,
    /// and another thread may have closed the engine.
    var mayMeanReplacedFile: Bool {
        !isOfRemovedCollection && [.placeRemoved, .cannotOpen, .closed].contains(code)
    }
}
