/// Something that waits for its turn in a store's pipeline.
@MainActor
struct StoreJob<Item: StorableItem> {

    enum Work {
        /// Steps that are known already.
        case steps([StoreStep<Item>])
        /// Steps that follow from the items when the turn has come.
        case transaction(@MainActor (inout StoreTransaction<Item>) throws -> Void)
        /// Something else, which has the pipeline to itself.
        case exclusive(@MainActor () async throws -> Void)
    }

    let work: Work
    /// Whether it may run while it is not known what is stored.
    var worksUnloaded = false
    /// Whether it must not share a batch, because a batch that it was in failed.
    var isAlone = false
    /// Tells the caller how it ended.
    let finish: @MainActor (Result<Void, any Error>) -> Void
}
