import Bodega
import DequeModule

/// Does what is asked of a store, one after the other.
///
/// Operations are written first and shown after. Those that wait together are written as one batch, and shown as one
/// change. While the store loads, everything waits; when loading has failed, everything is refused.
@MainActor
final class StorePipeline<Item: StorableItem> {
    let model: StoreModel<Item>
    let records: RecordStorage<Item>

    private var queue = Deque<StoreJob<Item>>()
    /// What is done when nothing else is to be done, so that it separates no operations that could share a batch.
    private var idleQueue = Deque<StoreJob<Item>>()
    private var isRunning = false
    private var waitingForLoad: [CheckedContinuation<Void, any Error>] = []
    /// A batch of which it is not known whether it was applied. Nothing is written before that is found out.
    private(set) var failure: FailedBatch?
    /// Whether records have to be read again because a removal of reported ones has failed, so that it is not known which
    /// of them are left.
    var mustReload = false
    /// The cursor in the engine's log up to which changes are shown; `nil` if it is not known: then all records have to be
    /// read to catch up.
    var cursor: StorageCursor?
    let follower = ChangeFollower()
    /// The origin whose changes ``follower`` leaves out.
    var followedOrigin: StorageOrigin

    nonisolated init(records: RecordStorage<Item>, model: StoreModel<Item>) {
        self.records = records
        followedOrigin = records.origin
        self.model = model
        startCatchingUp()
    }

    // MARK: Queueing

    /// Waits for a turn, does something, and returns when it is done.
    func perform(
        _ work: StoreJob<Item>.Work,
        evenUnloaded: Bool = false,
        onlyWhenIdle: Bool = false
    ) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let job = StoreJob(work: work, worksUnloaded: evenUnloaded) { continuation.resume(with: $0) }
            if onlyWhenIdle { idleQueue.append(job) } else { queue.append(job) }
            start()
        }
    }

    /// Loads the items. It is called once, before anything else is done.
    nonisolated func load() {
        follow()
        // Reading begins even while the main actor is busy.
        let reading = Task.detached { [records] in try await records.load() }
        Task { @MainActor in
            await finishLoading { try await reading.value }
            // Not from here, where what was read is still held, which would make the first change copy all of it.
            start()
        }
    }

    /// Waits until the first attempt to load is over.
    func waitForLoad() async throws {
        switch model.state {
        case .loaded: return
        case .failed(let error): throw error
        case .loading: try await withCheckedThrowingContinuation { waitingForLoad.append($0) }
        }
    }

    private func start() {
        if isRunning || !model.state.isSettled || queue.isEmpty && idleQueue.isEmpty { return }
        isRunning = true
        // Detached, because what waits later is no less urgent than what came first.
        let work: @MainActor @Sendable () async -> Void = { await self.run() }
        Task.detached(priority: .userInitiated, operation: work)
    }

    private func run() async {
        while let job = queue.popFirst() ?? idleQueue.popFirst() {
            if case .failed(let error) = model.state, !job.worksUnloaded {
                job.finish(.failure(StorageError.notLoaded(error)))
                continue
            }
            switch job.work {
            case .exclusive(let work): job.finish(await result { try await work() })
            case .steps, .transaction: await write(jobs(startingWith: job))
            }
        }
        isRunning = false
    }

    /// The jobs that can share a batch with the first: all of those that wait and are of its kind.
    private func jobs(startingWith first: StoreJob<Item>) -> [StoreJob<Item>] {
        var jobs = [first]
        while !first.isAlone, let next = queue.first, !next.isAlone, first.canShareBatch(with: next) {
            jobs.append(next)
            queue.removeFirst()
        }
        return jobs
    }

    // MARK: Writing

    private func write(_ jobs: [StoreJob<Item>]) async {
        let checked = await result(resolveFailure)
        if case .failure = checked {
            for job in jobs { job.finish(checked) }
            return
        }
        let (jobs, steps) = plan(jobs)
        if jobs.isEmpty { return }
        let isPlanned = jobs[0].isTransaction
        let written = await records.write(
            steps, model.exceptions, model.exceptions.isEmpty ? nil : model.contents, since: cursor,
            endsAtFailure: isPlanned)
        var ready: [(job: StoreJob<Item>, operation: PreparedOperation<Item>)] = []
        // Closures, here and wherever an operation comes by: a key path into a generic type is made anew at each use.
        for (job, prepared) in zip(jobs, written.prepared) {
            switch prepared {
            case .success(let operation): ready.append((job, operation))
            case .failure(let error): job.finish(.failure(error))
            }
        }
        // They stood on one that has failed, so they are planned anew.
        for job in jobs.dropFirst(written.prepared.count).reversed() { queue.prepend(job) }
        if ready.isEmpty { return }
        switch written.outcome {
        case .success:
            show(ready.map { $0.operation.changes }, written)
            if ready.contains(where: { $0.operation.leavesItemUnshown }) {
                mustReload = true
                follower.catchUp()
            }
            for (job, _) in ready { job.finish(.success(())) }
        case .failure(let error):
            failure = FailedBatch(ready.map { $0.operation })
            let resolved = await result(resolveFailure)
            if case .failure = resolved { follower.catchUp() }
            end(ready.map { $0.job }, with: error, resolved)
        }
    }

    /// Finds out what the jobs change. Transactions run now, each on top of those before it.
    private func plan(_ jobs: [StoreJob<Item>]) -> (jobs: [StoreJob<Item>], steps: [[StoreStep<Item>]]) {
        var planned: [StoreJob<Item>] = []
        var steps: [[StoreStep<Item>]] = []
        let pending = TransactionOverlay(on: model, key: records.coding.key)
        for job in jobs {
            switch job.work {
            case .exclusive: preconditionFailure("It has the pipeline to itself.")
            case .steps(let known):
                planned.append(job)
                steps.append(known)
            case .transaction(let body):
                var transaction = StoreTransaction(on: pending, key: records.coding.key)
                do {
                    try body(&transaction)
                    pending.add(transaction)
                    planned.append(job)
                    steps.append(transaction.steps)
                } catch {
                    job.finish(.failure(error))
                }
            }
        }
        return (planned, steps)
    }

    /// Ends jobs whose batch failed; if there were several, each is tried alone, because only one may be to blame.
    private func end(_ jobs: [StoreJob<Item>], with error: any Error, _ resolved: Result<Void, any Error>) {
        if isOneItemToBlame(for: error, among: jobs.count), case .success = resolved {
            for var job in jobs.reversed() {
                job.isAlone = true
                queue.prepend(job)
            }
        } else {
            for job in jobs { job.finish(.failure(error)) }
        }
    }

    /// Undoes what a failed batch has left behind. Nothing else is done before that.
    ///
    /// What the engine applies of the batch after that is shown as a change of others.
    func resolveFailure() async throws {
        guard let failure else { return }
        do {
            switch try await records.undo(failure, model.contents, model.exceptions, since: cursor) {
            case .none: break
            case .order: cursor = nil
            case .items:
                mustReload = true
                follower.catchUp()
            }
        } catch let error as StorageError where error.code == .encodingFailed {
            // An item that was decoded but can't be encoded can't be put back, so what is stored is what there is.
            show(try await records.load())
        }
        self.failure = nil
        renewOrigin()
    }

    // MARK: Loading

    /// Reads the items again.
    func reload() async throws {
        try await perform(
            .exclusive { [self] in
                // What a failed operation has left must not come back as an item.
                try await resolveFailure()
                if !model.state.isLoaded { model.show(.loading) }
                try await finishLoading { [records] in try await records.load() }.get()
            },
            evenUnloaded: true
        )
    }

    /// Shows what was read.
    func show(_ loaded: LoadedRecords<Item>) {
        cursor = loaded.cursor
        mustReload = false
        model.show(loaded)
        // A failed rewrite of old records has renewed the origin.
        followCurrentOrigin()
    }

    @discardableResult
    private func finishLoading(_ read: () async throws -> LoadedRecords<Item>) async -> Result<Void, any Error> {
        let loaded = await result { show(try await read()) }
        // What is shown of a store that was loaded before is still right.
        if case .failure(let error) = loaded, !model.state.isLoaded { model.show(.failed(error)) }
        let waiting = waitingForLoad
        waitingForLoad = []
        for continuation in waiting { continuation.resume(with: loaded) }
        return loaded
    }
}

extension StoreJob {
    fileprivate var isTransaction: Bool {
        if case .transaction = work { true } else { false }
    }

    fileprivate func canShareBatch(with other: StoreJob) -> Bool {
        switch (work, other.work) {
        case (.steps, .steps), (.transaction, .transaction): true
        default: false
        }
    }
}

extension StoreState {
    /// Whether loading is over.
    fileprivate var isSettled: Bool {
        if case .loading = self { false } else { true }
    }
}

extension StorageError {
    /// The error of an operation on a store that is not loaded.
    static func notLoaded(_ cause: any Error) -> StorageError {
        StorageError(
            .storeNotLoaded,
            "The store could not be loaded, so it is not known what is stored, and nothing was changed. Call reload().",
            cause: cause
        )
    }
}

extension StorageError.Code {
    /// A store could not load its items and refuses to change what it does not know.
    public static let storeNotLoaded = StorageError.Code(rawValue: "storeNotLoaded")
}

/// Runs something and returns how it ended.
@MainActor
func result<Value>(_ body: @MainActor () async throws -> Value) async -> Result<Value, any Error> {
    do {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}
