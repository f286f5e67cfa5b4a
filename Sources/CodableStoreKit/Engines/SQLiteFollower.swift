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

    private let state: Locked<State>
    private let tell: @Sendable ([SQLiteEffect]) -> Void

    init(_ collection: SQLiteCollection, _ tell: @escaping @Sendable ([SQLiteEffect]) -> Void) {
        state = Locked(State(collection: collection))
        self.tell = tell
    }

    /// Begins to follow the changes from now on.
    func begin() {
        let collection = state.withLock { $0.collection }
        let endOfEffects = collection.follow { [self] effects in
            state.withLock { state in for effect in effects { state.known.note(effect) } }
            tell(effects)
        }
        do {
            let cursor = try collection.cursor()
            state.withLock { $0.cursor = cursor }
        } catch {
            codableStoreLogger.notice(
                "What other processes change can't be told yet.",
                metadata: ["file": "\(collection.url.path)", "error": "\(error)"]
            )
        }
        let signals = collection.changeSignals()
        let task = Task { [weak self] in
            for await _ in signals {
                var pause = RetryPause()
                while let isDone = await self?.catchUp(with: collection), !isDone {
                    do { try await pause.wait() } catch { return }
                }
            }
        }
        let hasEnded = state.withLock { state in
            state.endsOfFollowing += [endOfEffects, { task.cancel() }]
            return state.hasEnded
        }
        if hasEnded { end() }
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

    /// Follows another collection instead, which has taken the place of the one that was followed.
    func move(to collection: SQLiteCollection) {
        let ends = state.withLock { state in
            defer { state = State(collection: collection, hasEnded: state.hasEnded) }
            return state.endsOfFollowing
        }
        for end in ends { end() }
        if !state.withLock({ $0.hasEnded }) { begin() }
    }

    /// Notes what observers are told of by who has done it, when it is committed.
    func note(_ operations: [StorageOperation]) {
        state.withLock { state in for operation in operations { state.known.note(operation) } }
    }

    /// Tells what others have changed.
    ///
    /// - Returns: Whether that is done. Otherwise it can be tried again.
    private func catchUp(with collection: SQLiteCollection) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                do {
                    try tellNews(of: collection)
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
        let cursor = try state.withLock { $0.cursor } ?? collection.cursor()
        if !state.withLock({ $0.known.areRead }) {
            let (items, changed) = try collection.allItems(since: cursor)
            state.withLock { $0.known.read(items, changed: changed) }
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
}
