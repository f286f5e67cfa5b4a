import Bodega
import DequeModule

/// The serial pipeline of a store's operations.
///
///      insert(), transaction(), reload(), …          signals of the engine, retries ──► follower
///                  │                                                                       │
///                  ▼                                                                       ▼
///                queue ──────────────► run ◄────────── idle queue ◄──────────────────── catch up
///                  ▲                    │
///                  │         ┌──────────┴──────────┐
///                  │         ▼                     ▼
///                  │   operations of         exclusive job:
///                  │     one kind          reload, catch up, …
///                  │         │
///                  │         ▼
///                  │       plan ──► write one batch ──► show ──► finish
///                  │                       │
///                  └── each in a batch ◄── fails: undo ──► finish with the error
///                        of its own
///
/// 1. ``load()`` reads the items without a turn. Until they are shown or reading has failed, all
///    jobs wait. After a failure, ``run()`` refuses all jobs but reloads and the follower's.
/// 2. ``perform(_:canRunUnloaded:onlyWhenIdle:)`` adds a job to a queue. If no run is active, ``start()`` begins one. A
///    run takes jobs until both queues are empty. The idle queue comes last, so that its jobs do not separate
///    operations that could share a batch. An operation that finds no run active may be carried out by its caller
///    instead of a run, which saves two changes of thread.
/// 3. ``write(_:)`` takes all waiting operations of the same kind: chains and single operations, or transactions.
/// 4. **Plan**: the bodies of transactions run on the main actor, each on the items that the earlier ones have left.
/// 5. **Write**: ``RecordStorage`` encodes the items, writes one batch, and reads the log since the cursor, all off the
///    main actor. An operation that can't be encoded fails alone. Transactions planned on it go back to the queue. If
///    others have changed something that is not shown yet, it is shown, and transactions are planned again.
/// 6. **Show**: the model applies the changes, with those of other origins in the order of the log, and the cursor
///    moves behind them. Many changes are applied to a copy of the items off the main actor, and the model shows that.
///    Only then do the callers return.
/// 7. If the batch fails, ``resolveFailure()`` restores the records. Then each of its operations is tried in a batch of
///    its own. If the engine is locked, or the records can't be restored, all operations fail instead. In the latter
///    case, each later turn restores the records first, and the follower takes such a turn soon. An engine with a log
///    is left as it is: the store takes a new origin, and shows changes that the engine has applied as foreign ones.
/// 8. The follower catches up in a turn of its own: it reads the log since the cursor and shows the net effect. If the
///    log does not reach back, or the cursor is not known, it reads all records. With a known cursor it waits in the
///    idle queue, because each write reads the log itself.
///
/// The main actor guards all state here and in the model. The items, the cursor, and the failed batch change only in a
/// turn or in the first load, of which there is one at a time, so they stay the same across the `await`s of a turn. The
/// locks of ``RecordStorage`` and `ChangeFollower` guard the store's origin and the follower's tasks.
@MainActor
final class StorePipeline<Item: StorableItem> {
    let model: StoreModel<Item>
    let records: RecordStorage<Item>

    private var queue = Deque<StoreJob<Item>>()
    /// Jobs that run only while ``queue`` is empty, so that they don't separate operations that could share a batch.
    private var idleQueue = Deque<StoreJob<Item>>()
    private var isRunning = false
    private var waitingForLoad: [CheckedContinuation<Void, any Error>] = []
    /// A batch that has failed and whose records are not restored yet. Nothing else is written before that.
    private(set) var failedBatch: FailedBatch?
    /// Whether all records have to be read again, because what is shown may differ from what is stored.
    var mustReload = false
    let log: FollowedLog
    /// The turns of all members of the database, if there is one.
    var turns: SharedTurns?
    /// What is to be shown in a shared turn.
    var unshown: Unshown?
    /// The storage of the test that has created the store.
    private let temporaryStorage = TemporaryStorage.current

    nonisolated init(records: RecordStorage<Item>, model: StoreModel<Item>) {
        self.records = records
        self.model = model
        log = FollowedLog(records.changeLog)
        log.begin("\(Store<Item>.self)") { [weak self] in try await self?.catchUp() }
    }

    // MARK: Queueing

    /// Performs work in a turn of its own, and returns when it has ended.
    func perform(
        _ work: StoreJob<Item>.Work,
        canRunUnloaded: Bool = false,
        onlyWhenIdle: Bool = false
    ) async throws {
        try temporaryStorage?.checkUse()
        if canRunInCallersTask(work) {
            var outcome: Result<Void, any Error>?
            isRunning = true
            await run(StoreJob(work: work) { outcome = $0 })
            isRunning = false
            start()
            guard let outcome else { preconditionFailure("An operation that shares no batch ends with its turn.") }
            return try outcome.get()
        }
        try await withCheckedThrowingContinuation { continuation in
            let job = StoreJob(work: work, canRunUnloaded: canRunUnloaded) { continuation.resume(with: $0) }
            if onlyWhenIdle { idleQueue.append(job) } else { queue.append(job) }
            start()
        }
    }

    /// Performs work in a turn after those that wait, also while loading has failed.
    func performLater(_ work: @escaping @MainActor () async -> Void) {
        queue.append(StoreJob(work: .exclusive(work), canRunUnloaded: true) { _ in })
        start()
    }

    /// Loads the items in the background. Either this or ``loadAndWait()`` must be called once, before any other
    /// method.
    nonisolated func load() {
        // Detached, so that reading begins even while the main actor is busy.
        Task.detached { [self] in await begin(with: await records.loadResult()) }
    }

    /// Loads the items in the caller's task: a continuation would be resumed after two more changes of thread.
    func loadAndWait() async throws {
        try await begin(with: await records.loadResult()).get()
    }

    @discardableResult
    private func begin(with loaded: consuming Result<LoadedRecords<Item>, any Error>) async -> Result<Void, any Error> {
        // After the callers that wait, which starting to watch a file would delay. The first signal comes immediately,
        // so a change is noticed even if the items were read before it.
        defer { Task { log.follow(excluding: records.origin) } }
        return await finishLoading(loaded)
    }

    /// Waits until the first attempt to load has ended.
    func waitForLoad() async throws {
        try temporaryStorage?.checkUse()
        switch model.state {
        case .loaded: return
        case .failed(let error): throw error
        case .loading: try await withCheckedThrowingContinuation { waitingForLoad.append($0) }
        }
    }

    private func start() {
        if isRunning || !model.state.isSettled || queue.isEmpty && idleQueue.isEmpty { return }
        isRunning = true
        // Detached, so that the run does not inherit the priority of the first caller: later jobs may be more urgent.
        let work: @MainActor @Sendable () async -> Void = { await self.run() }
        Task.detached(priority: .userInitiated, operation: work)
    }

    private func run() async {
        while let job = queue.popFirst() ?? idleQueue.popFirst() { await run(job) }
        isRunning = false
    }

    /// Carries out a job, together with those that can share its batch.
    private func run(_ job: StoreJob<Item>) async {
        if case .failed(let error) = model.state, !job.canRunUnloaded {
            return job.finish(.failure(StorageError.notLoaded(error)))
        }
        switch job.work {
        case .exclusive(let work): job.finish(await result { try await work() })
        case .steps, .transaction: await write(jobs(startingWith: job))
        }
    }

    /// Whether the caller's task may carry out its operation. Later operations would wait for it, so it must not have a
    /// low priority, nor end early when it is cancelled.
    private func canRunInCallersTask(_ work: StoreJob<Item>.Work) -> Bool {
        // Then both queues are empty.
        if isRunning || !model.state.isLoaded { return false }
        if case .exclusive = work { return false }
        return records.ignoresCancellation && Task.currentPriority >= .medium
    }

    /// Takes the jobs that can share a batch with the first: those of its kind at the head of the queue.
    private func jobs(startingWith first: StoreJob<Item>) -> [StoreJob<Item>] {
        var jobs = [first]
        while !first.needsOwnBatch, let next = queue.first, !next.needsOwnBatch, first.canShareBatch(with: next) {
            jobs.append(next)
            queue.removeFirst()
        }
        return jobs
    }

    // MARK: Writing

    private func write(_ jobs: [StoreJob<Item>]) async {
        var (jobs, attempts) = (jobs, ConditionalAttempts())
        while true {
            let outdated = await writeIfCurrent(jobs)
            if outdated.isEmpty { return }
            // Others have changed something that the transactions may have read.
            let shown = await result {
                try await showChanges()
                try attempts.fail(nil)
            }
            if case .failure = shown {
                for job in outdated { job.finish(shown) }
                return
            }
            jobs = outdated
        }
    }

    /// Writes jobs, unless they are transactions and others have changed something that is not shown yet.
    ///
    /// - Returns: The transactions that are to run again after that is shown.
    private func writeIfCurrent(_ jobs: [StoreJob<Item>]) async -> [StoreJob<Item>] {
        let resolved = await result(resolveFailure)
        if case .failure = resolved {
            for job in jobs { job.finish(resolved) }
            return []
        }
        let (jobs, steps, later) = await plan(jobs)
        for job in later.reversed() { queue.prepend(job) }
        if jobs.isEmpty { return [] }
        let isPlanned = jobs[0].isTransaction
        let written = await records.write(
            steps, around: planner(), since: log.cursor, needsCursor: isPlanned && turns != nil,
            stopsAtFailure: isPlanned)
        var (ready, changes): ([StoreJob<Item>], [[StoreChange<Item>]]) = ([], [])
        // Closures instead of key paths, here and in all code that each operation runs: a key path into a generic type
        // is created again at each use.
        for (job, prepared) in zip(jobs, written.operations) {
            switch prepared {
            case .success(let prepared):
                ready.append(job)
                changes.append(prepared)
            case .failure(let error): job.finish(.failure(error))
            }
        }
        // These transactions were planned on top of one that has failed, so they are planned again.
        for job in jobs.dropFirst(written.operations.count).reversed() { queue.prepend(job) }
        if ready.isEmpty || written.isOutdated { return ready }
        switch written.outcome {
        case .success:
            await show(changes, written)
            releaseElsewhere(written, count: written.records.count)
            if written.lost.mustReload { await reloadAfterWrite() }
            if written.planner?.leavesItemUnshown == true { reloadSoon() }
            for job in ready { job.finish(.success(())) }
        case .failure(let error):
            failedBatch = FailedBatch(
                operations: written.records, originals: written.planner?.originals ?? [:],
                hasEvictions: records.traits.contains(.evicts))
            let resolved = await result(resolveFailure)
            if case .failure = resolved { log.catchUpSoon() }
            retryOrFail(ready, with: error, resolved)
        }
        return []
    }

    /// Retries each job of a failed batch in its own batch, because one job may have made it fail. A single job fails.
    private func retryOrFail(_ jobs: [StoreJob<Item>], with error: any Error, _ resolved: Result<Void, any Error>) {
        if shouldRetryEachAlone(after: error, count: jobs.count), case .success = resolved {
            for var job in jobs.reversed() {
                job.needsOwnBatch = true
                queue.prepend(job)
            }
        } else {
            for job in jobs { job.finish(.failure(error)) }
        }
    }

    /// Restores the records that a failed batch has changed. Every turn that reads or writes records begins with it.
    ///
    /// If the engine applies a part of the batch later, that is shown as a foreign change.
    func resolveFailure() async throws {
        guard let failedBatch else { return }
        do {
            switch try await records.undo(failedBatch, model.contents, model.exceptions, since: log.cursor) {
            case .none: break
            case .order: log.cursor = nil
            case .items: reloadSoon()
            case .evictions: show(try await records.load())
            }
        } catch let error as StorageError where error.code == .encodingFailed {
            // An item that was decoded but can't be encoded can't be restored, so the store shows what is stored.
            show(try await records.load())
        }
        self.failedBatch = nil
        renewOrigin()
    }

    /// Reads all records after a write, in its turn. If that fails, the follower does.
    private func reloadAfterWrite() async {
        do {
            show(try await records.load())
        } catch {
            reloadSoon()
        }
    }

    /// Makes the follower read all records.
    func reloadSoon() {
        mustReload = true
        log.catchUpSoon()
    }

    // MARK: Loading

    /// Reads the items again.
    func reload() async throws {
        try await perform(
            .exclusive { [self] in
                // The remains of a failed operation must not become items.
                try await resolveFailure()
                if !model.state.isLoaded { model.show(.loading) }
                try await finishLoading(await records.loadResult()).get()
            },
            canRunUnloaded: true
        )
    }

    /// Shows the records that were read.
    func show(_ loaded: LoadedRecords<Item>) {
        replacement(by: loaded).show()
    }

    private func show(_ loaded: consuming Result<LoadedRecords<Item>, any Error>) async -> Result<Void, any Error> {
        switch consume loaded {
        case .success(let loaded):
            await showTogether(loaded)
            return .success(())
        case .failure(let error): return .failure(error)
        }
    }

    @discardableResult
    private func finishLoading(
        _ loaded: consuming Result<LoadedRecords<Item>, any Error>
    ) async -> Result<Void, any Error> {
        let loaded = await show(loaded)
        // A store that was loaded before keeps its items and its state.
        if case .failure(let error) = loaded, !model.state.isLoaded { model.show(.failed(error)) }
        let waiting = waitingForLoad
        waitingForLoad = []
        for continuation in waiting { continuation.resume(with: loaded) }
        start()
        return loaded
    }
}

extension StoreState {
    /// Whether loading has ended.
    fileprivate var isSettled: Bool {
        if case .loading = self { false } else { true }
    }
}

/// Runs a closure and returns its outcome.
@MainActor
func result<Value>(_ body: @MainActor () async throws -> Value) async -> Result<Value, any Error> {
    do {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}
