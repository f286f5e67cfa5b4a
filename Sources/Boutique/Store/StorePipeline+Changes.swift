import Bodega
import Logging

extension StorePipeline {

    /// Follows what others change in the engine, if the engine tells. It is called before the items are read, and for each
    /// new origin.
    ///
    /// - Returns: The task that follows. It ends with the pipeline.
    nonisolated func followChanges() -> Task<Void, Never>? {
        records.changeSignals().map { follow($0) }
    }

    /// Takes a new origin after a write whose outcome is not known, and follows the changes excluding its own.
    func giveUpOrigin() {
        records.renewOrigin()
        followAgain()
    }

    /// Follows the changes excluding those of the current origin, if that has been renewed.
    func followAgain() {
        let origin = records.origin
        guard origin != followedOrigin, let old = following else { return }
        // The new one listens before the old one ceases, so that the engine goes on watching.
        followedOrigin = origin
        following = followChanges()
        old.cancel()
    }

    /// Compares store and engine in a turn of its own, and retries until that succeeds. However often it is called, one
    /// loop does so.
    func catchUpLater() {
        wantedCatchUps += 1
        if wantedCatchUps > 1 { return }
        Task.detached { [weak self] in await retryUntilDone { await self?.catchUpAsWanted() } }
    }

    private func catchUpAsWanted() async -> Bool {
        var done = 0
        // Again for a call that came too late for the catch-up that has just ended.
        while done != wantedCatchUps {
            done = wantedCatchUps
            guard await catchUp() else { return false }
        }
        wantedCatchUps = 0
        return true
    }

    /// Shows what others have changed, at each of some signals.
    private nonisolated func follow(_ signals: AsyncStream<Void>) -> Task<Void, Never> {
        Task { [weak self] in
            for await _ in signals { await retryUntilDone { await self?.catchUp() } }
        }
    }

    /// Undoes what a failed write has left behind and shows what others have changed, in its turn.
    ///
    /// - Returns: Whether that is done, as far as it can be. Otherwise it can be tried again.
    private func catchUp() async -> Bool {
        do {
            // Whatever is written reads the changes of others itself, if the place in the history is known.
            try await perform(
                .exclusive { [self] in try await showNews() }, evenUnloaded: true, onlyWhenIdle: cursor != nil)
            followingFailure = nil
            return true
        } catch let error as StorageError where error.code == .readOnly && failure == nil && !mustReload {
            boutiqueLogger.debug(
                "There is no history of the changes of others yet, and it can't be begun here.",
                metadata: ["error": "\(error)"]
            )
            return true
        } catch {
            // Once for each cause, because retrying goes on as long as the store exists.
            let code = (error as? StorageError)?.code ?? .inputOutput
            boutiqueLogger.log(
                level: code == followingFailure ? .debug : .warning,
                "A store could not be compared with its engine. Retrying…",
                metadata: ["error": "\(error)"]
            )
            followingFailure = code
            return false
        }
    }

    private func showNews() async throws {
        guard model.state.isLoaded else { return }
        try await resolveFailure()
        if mustReload { return try await showAll() }
        if records.observableEngine == nil { return }
        guard let cursor, let news = try await records.fetchNews(since: cursor) else { return try await showAll() }
        if news.concernsOthers {
            let found = await records.decode(news.items)
            // Own changes are shown already.
            let outcome = NetChanges(news.changesOfOthers)
            guard let others = ForeignChanges(outcome, found, model.map) else { return try await showAll() }
            records.log(found.compactMap { $0.record.error })
            self.cursor = others.hasUnknownPlaces ? nil : news.cursor
            model.apply([others.changes(of: model.contents)], others.map)
            if others.hasUnknownPlaces { return try await showAll() }
        }
        self.cursor = news.cursor
    }

    private func showAll() async throws {
        show(try await records.load(needsCursor: true))
    }

    // MARK: After writing

    /// Shows own operations that were written, among what others have changed meanwhile, as the history has it.
    ///
    /// - Parameters:
    ///   - operations: The changes of each operation.
    ///   - map: Where the records are after them.
    ///   - news: What the history tells, if it is followed.
    func show(
        _ operations: [[StoreChange<Item>]],
        _ map: RecordExceptions,
        _ news: Result<HistoryNews?, any Error>?
    ) async {
        guard let news else { return model.apply(operations, map) }
        if case .success(let news?) = news, !news.concernsOthers {
            cursor = news.cursor
            return model.apply(operations, map)
        }
        let read = await result { try await othersAround(operations, map, try news.get()) }
        guard case .success(let around?) = read else {
            // They are written, whatever else has happened. That is shown in a turn of its own.
            model.apply(operations, map)
            cursor = nil
            return catchUpLater()
        }
        cursor = around.cursor
        model.apply([around.before.changes(of: model.contents)], around.before.map)
        model.apply(around.operations, around.before.map)
        model.apply([around.after.changes(of: model.contents)], around.after.map)
        if around.hasUnknownPlaces {
            cursor = nil
            catchUpLater()
        }
    }

    /// What others have changed before and after own operations.
    ///
    /// - Returns: `nil` if it takes a look at all records to tell.
    private func othersAround(
        _ operations: [[StoreChange<Item>]],
        _ map: RecordExceptions,
        _ news: HistoryNews?
    ) async throws -> ChangesAround<Item>? {
        guard let news, !model.map.hasDisplacedItems, !model.map.hasDuplicates else { return nil }
        let found = await records.decode(news.items)
        let changes = ChangesAround(operations, news, found, shown: model.contents, map, from: model.map)
        if changes != nil { records.log(found.compactMap { $0.record.error }) }
        return changes
    }
}
