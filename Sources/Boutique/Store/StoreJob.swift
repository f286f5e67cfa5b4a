/// Work that waits for its turn in a store's pipeline.
@MainActor
struct StoreJob<Item: StorableItem> {

    enum Work {
        /// Steps that the caller has given.
        case steps([StoreStep<Item>])
        /// A closure that determines the steps from the items when the job's turn comes.
        case transaction(@MainActor (inout StoreTransaction<Item>) throws -> Void)
        /// Other work, which shares its turn with no other job.
        case exclusive(@MainActor () async throws -> Void)
    }

    let work: Work
    /// Whether it may run in a store that has failed to load.
    var canRunUnloaded = false
    /// Whether it must be written as a batch of its own, because a batch that it shared has failed.
    var needsOwnBatch = false
    /// Reports the outcome to the caller.
    let finish: @MainActor (Result<Void, any Error>) -> Void
}

extension StoreJob {
    /// Whether the steps are determined when its turn comes.
    var isTransaction: Bool {
        if case .transaction = work { true } else { false }
    }

    /// Whether both are operations of one kind, which can be written together.
    func canShareBatch(with other: StoreJob) -> Bool {
        switch (work, other.work) {
        case (.steps, .steps), (.transaction, .transaction): true
        default: false
        }
    }
}
