import Bodega

extension StorePipeline {

    /// The planner of a batch, if there are exceptional records.
    func planner() -> WritePlanner<Item>? {
        model.exceptions.isEmpty ? nil : WritePlanner(records, model.exceptions, model.contents)
    }

    /// Returns a transaction on the items that are shown.
    func newTransaction() -> StoreTransaction<Item> {
        StoreTransaction(on: TransactionOverlay(on: model, key: records.coding.key), key: records.coding.key)
    }

    /// Determines the steps of each job. The bodies of transactions run here, each on top of the earlier ones.
    ///
    /// - Returns: The jobs to write, their steps, and the jobs for later batches. If references name items of the
    ///   store, a removal has a batch of its own: what follows from it comes between what was called before and after.
    func plan(
        _ jobs: [StoreJob<Item>]
    ) async -> (jobs: [StoreJob<Item>], steps: [[StoreStep<Item>]], later: [StoreJob<Item>]) {
        var planned: [StoreJob<Item>] = []
        var steps: [[StoreStep<Item>]] = []
        var isReferenced: Bool?
        let pending = TransactionOverlay(on: model, key: records.coding.key)
        for (number, job) in jobs.enumerated() {
            let own: [StoreStep<Item>]
            switch job.work {
            case .exclusive: preconditionFailure("An exclusive job must not share a batch.")
            case .steps(let known): own = known
            case .transaction(let body):
                var transaction = StoreTransaction(on: pending, key: records.coding.key)
                do {
                    try body(&transaction)
                    pending.add(transaction)
                    own = transaction.steps
                } catch {
                    job.finish(.failure(error))
                    continue
                }
            }
            if jobs.count > 1, own.contains(where: \.isRemoval) {
                if isReferenced == nil { isReferenced = await records.isReferenced() }
                if isReferenced ?? true {
                    return planned.isEmpty
                        ? ([job], [own], Array(jobs[(number + 1)...])) : (planned, steps, Array(jobs[number...]))
                }
            }
            planned.append(job)
            steps.append(own)
        }
        return (planned, steps, [])
    }
}
