import Bodega
import Dispatch
import Foundation
import Logging

/// Follows on behalf of observers what others change in a collection of an SQLite file.
///
/// What is changed through the same file is told when it is committed, what others change when they have committed, both in
/// the order of the changes. Of a removed object, the observers are told what it was; nobody but this process knows that,
/// so all records are kept in memory meanwhile.
final class SQLiteFollower: Sendable {

    private struct State: Sendable {
        var collection: SQLiteCollection
        /// The place in the history up to which everything is told, `nil` if the history can't be read yet.
        var cursor: StorageCursor?
        var known = KnownRecords()
        var endsOfFollowing: [@Sendable () -> Void] = []
        var hasEnded = false
        /// Why the changes could not be read the last time.
        var failure: StorageError.Code?
    }

    /// Follows another collection instead of one that can't be used any more.
    ///
    /// - Returns: Whether there is another. If it throws, there may be one later.
    typealias Replace = @Sendable (SQLiteCollection, StorageError) throws -> Bool

    private let state: Locked<State>
    private let replace: Replace
    private let tell: @Sendable ([SQLiteEffect]) -> Void

    init(
        _ collection: SQLiteCollection,
        replace: @escaping Replace,
        _ tell: @escaping @Sendable ([SQLiteEffect]) -> Void
    ) {
        state = Locked(State(collection: collection))
        self.replace = replace
        self.tell = tell
    }

    /// Begins to follow the changes from now on.
    func begin() {
        begin(with: state.withLock { $0.collection })
    }

    private func begin(with collection: SQLiteCollection) {
        let endOfEffects = collection.follow { [self] effects in
            let isFollowed = state.withLock { state in
                guard state.collection === collection else { return false }
                for effect in effects { state.known.note(effect) }
                return true
            }
            if isFollowed { tell(effects) }
        }
        do {
            _ = try cursor(of: collection)
        } catch {
            codableStoreLogger.notice(
                "What other processes change can't be told yet.",
                metadata: ["file": "\(collection.url.path)", "error": "\(error)"]
            )
        }
        let signals = collection.changeSignals()
        let task = Task { [weak self] in
            for await _ in signals { await retryUntilDone { await self?.catchUp(with: collection) } }
            // Somebody has closed the file, unless nobody follows it any more.
            await retryUntilDone { await self?.moveOn(from: collection) }
        }
        let isOver = state.withLock { state in
            // Another may have taken its place meanwhile.
            guard state.collection === collection, !state.hasEnded else { return true }
            state.endsOfFollowing += [endOfEffects, { task.cancel() }]
            return false
        }
        if isOver {
            endOfEffects()
            task.cancel()
        }
    }

    /// Ends it.
    func end() {
        let ends = state.withLock { state in
            defer { state.endsOfFollowing = [] }
            state.hasEnded = true
            return state.endsOfFollowing
        }
        for end in ends { end() }
    }

    /// Follows another collection instead, which has taken the place of one. If that is not followed any more, it has been
    /// replaced already.
    func move(from old: SQLiteCollection, to collection: SQLiteCollection) {
        let ends = state.withLock { state -> [@Sendable () -> Void]? in
            guard state.collection === old, !state.hasEnded else { return nil }
            defer { state = State(collection: collection) }
            return state.endsOfFollowing
        }
        guard let ends else { return }
        for end in ends { end() }
        begin(with: collection)
    }

    /// Notes what observers are told of by who has done it, when it is committed.
    func note(_ operations: [StorageOperation]) {
        state.withLock { state in for operation in operations { state.known.note(operation) } }
    }

    /// Tells what others have changed.
    ///
    /// - Returns: Whether that is done. Otherwise it can be tried again.
    private func catchUp(with collection: SQLiteCollection) async -> Bool {
        await attempt(with: collection) { [self] in
            do {
                try tellNews(of: collection)
            } catch let error as StorageError where error.code == .placeRemoved || error.code == .cannotOpen {
                guard try replace(collection, error) else { throw error }
            }
        }
    }

    /// Follows what has taken the place of a collection whose file is closed.
    ///
    /// - Returns: Whether that is done, or nothing has. Otherwise it can be tried again.
    private func moveOn(from collection: SQLiteCollection) async -> Bool {
        await attempt(with: collection) { [self] in
            guard state.withLock({ $0.collection === collection && !$0.hasEnded }) else { return }
            _ = try replace(collection, StorageError(.cannotOpen, "The file was closed."))
        }
    }

    private func attempt(
        with collection: SQLiteCollection,
        _ body: @escaping @Sendable () throws -> Void
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                do {
                    try body()
                    state.withLock { $0.failure = nil }
                    continuation.resume(returning: true)
                } catch {
                    // Once for each cause, because it is tried again as long as somebody observes.
                    let code = (error as? StorageError)?.code ?? .inputOutput
                    let isKnown = state.withLock { state in
                        defer { state.failure = code }
                        return state.failure == code
                    }
                    codableStoreLogger.log(
                        level: isKnown ? .debug : .warning,
                        "What others have changed could not be read. It is tried again.",
                        metadata: ["file": "\(collection.url.path)", "error": "\(error)"]
                    )
                    // Who can only read waits until others begin a history, and they signal.
                    continuation.resume(returning: code == .readOnly)
                }
            }
        }
    }

    private func tellNews(of collection: SQLiteCollection) throws {
        // What was removed or replaced can be read as before by whoever has it open.
        try collection.checkPlace()
        guard let cursor = try cursor(of: collection) else { return }
        if !state.withLock({ $0.known.areRead }) {
            let (items, changed) = try collection.allItems(since: cursor)
            state.withLock { state in
                if state.collection === collection { state.known.read(items, changed: changed) }
            }
        }
        try collection.readNews(since: cursor) { news in
            let effects = state.withLock { state -> [SQLiteEffect] in
                guard state.collection === collection else { return [] }
                state.cursor = news.cursor
                return state.known.apply(news)
            }
            if !effects.isEmpty { tell(effects) }
        }
    }

    /// The place up to which everything is told. If there is none yet, it is where the history is now, and stays so when what
    /// follows fails.
    ///
    /// - Returns: `nil` if another collection is followed by now.
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
