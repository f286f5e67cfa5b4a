import Bodega

/// The part of one store in a transaction over several stores.
@MainActor
final class TransactionPart<Item: StorableItem> {
    let pipeline: StorePipeline<Item>
    /// What the closure of the transaction changes.
    var transaction: StoreTransaction<Item>

    private var written: WrittenOperations<Item>?
    private var changes: [StoreChange<Item>] = []

    init(_ store: Store<Item>) {
        pipeline = store.pipeline
        transaction = pipeline.newTransaction()
    }
}

/// The parts of any items.
@MainActor
protocol AnyTransactionPart: AnyObject {
    /// The pipeline of the store.
    var member: any SharedTurnMember { get }

    /// Waits until the store has loaded.
    ///
    /// - Returns: The turns of its database, `nil` if its engine has none.
    func waitForLoad() async throws -> SharedTurns?

    /// The place in the log of what the store shows; `nil` if it is not known.
    var cursor: StorageCursor? { get }

    /// Starts again from what the store shows.
    func begin()

    /// Encodes what was changed.
    ///
    /// - Throws: The error of an item that can't be encoded.
    func batch() async throws -> (engine: any StorageBackend, batch: StorageBatch)

    /// Notes that the batch was applied. What it changes is not shown yet.
    func noteApplied(_ answer: StorageAnswer<BatchOutcome>)

    /// Returns the change that follows from the batch alone.
    func change(upTo cursor: StorageCursor) async -> ShownChange

    /// Returns what the batch has changed and is not shown yet; `nil` if all of it is.
    func unshownChange() async -> ShownChange?

    /// Makes the store follow its log again.
    func catchUpSoon()

    /// Notes that it is not known whether the batch was applied.
    func noteFailure()
}

extension TransactionPart: AnyTransactionPart {

    var member: any SharedTurnMember { pipeline }

    var cursor: StorageCursor? { pipeline.mustReload ? nil : pipeline.log.cursor }

    func waitForLoad() async throws -> SharedTurns? {
        do {
            try await pipeline.waitForLoad()
        } catch {
            throw StorageError.notLoaded(error)
        }
        return pipeline.turns
    }

    func begin() { transaction = pipeline.newTransaction() }

    func batch() async throws -> (engine: any StorageBackend, batch: StorageBatch) {
        let records = pipeline.records
        let written = await records.prepare([transaction.steps], around: pipeline.planner(), stopsAtFailure: true)
        changes = try written.operations.first?.get() ?? []
        self.written = written
        var batch = StorageBatch(written.records, origin: records.origin)
        batch.basis = cursor
        return (records.engine, batch)
    }

    func noteApplied(_ answer: StorageAnswer<BatchOutcome>) {
        guard let written else { return }
        pipeline.records.note(answer, of: written.records)
        pipeline.unshown = .operations([changes], written)
    }

    func change(upTo cursor: StorageCursor) async -> ShownChange { await pipeline.shownOperations(upTo: cursor) }

    func unshownChange() async -> ShownChange? {
        pipeline.unshown == nil ? nil : await pipeline.shownOperations(upTo: nil)
    }

    func catchUpSoon() { pipeline.log.catchUpSoon() }

    func noteFailure() { pipeline.renewOrigin() }
}

/// Carries out a transaction over several stores.
///
/// - Parameters:
///   - parts: The parts of the stores.
///   - body: Reads and changes the parts. It may run more than once.
@MainActor
func performTransaction<Value: Sendable>(
    _ parts: [any AnyTransactionPart], _ body: @escaping @MainActor () throws -> Value
) async throws -> Value {
    var turns: [SharedTurns] = []
    for part in parts { if let own = try await part.waitForLoad() { turns.append(own) } }
    guard Set(parts.map { ObjectIdentifier($0.member) }).count == parts.count else {
        throw StorageError(.invalidArgument, "A transaction can't have two parts of the same store. Pass it once.")
    }
    guard let shared = turns.first, turns.count == parts.count, turns.allSatisfy({ $0 === shared }) else {
        throw StorageError(
            .invalidArgument,
            """
            The stores are not in one database whose changes they follow, so they can't change together. Create them \
            with the collection(named:) of one SQLite engine, PostgreSQL database or engine in memory. A limited or \
            mirrored engine can't take part.
            """)
    }
    return try await shared.perform(parts.map(\.member)) { try await attempt(parts, body, shared) }
}

/// Carries out a transaction while all members of the database attend.
@MainActor
private func attempt<Value>(
    _ parts: [any AnyTransactionPart], _ body: @MainActor () throws -> Value, _ turns: SharedTurns
) async throws -> Value {
    var attempts = ConditionalAttempts()
    while true {
        if parts.contains(where: { $0.cursor == nil }) {
            if let error = await turns.show() { throw error }
            // Without a basis, a batch would be applied in any state.
            if parts.contains(where: { $0.cursor == nil }) {
                try attempts.fail(nil)
                continue
            }
        }
        for part in parts { part.begin() }
        let value = try body()
        var batches: [(engine: any StorageBackend, batch: StorageBatch)] = []
        for part in parts { batches.append(try await part.batch()) }
        let answers: [StorageAnswer<BatchOutcome>]
        do {
            answers = try await StorageBatchGroup.apply(batches)
        } catch {
            for part in parts { part.noteFailure() }
            await turns.show()
            throw error
        }
        if answers.allSatisfy(\.value.wasApplied) {
            await show(parts, answers, turns)
            return value
        }
        // Others have changed something.
        if let error = await turns.show() { throw error }
        try attempts.fail(nil)
    }
}

/// Shows what a transaction has changed.
@MainActor
private func show(
    _ parts: [any AnyTransactionPart], _ answers: [StorageAnswer<BatchOutcome>], _ turns: SharedTurns
) async {
    for (part, answer) in zip(parts, answers) { part.noteApplied(answer) }
    let commits = zip(parts, answers).compactMap { part, answer in
        answer.value.commit.flatMap { $0.before == part.cursor ? $0.after : nil }
    }
    if commits.count == parts.count, turns.areAll(parts.map(\.member)) {
        var changes: [ShownChange] = []
        for (part, cursor) in zip(parts, commits) { changes.append(await part.change(upTo: cursor)) }
        return ShownChange.show(changes)
    }
    await turns.show()
    // They are written, but their logs could not be read.
    var changes: [ShownChange] = []
    for part in parts { if let change = await part.unshownChange() { changes.append(change) } }
    ShownChange.show(changes)
    if !changes.isEmpty { for part in parts { part.catchUpSoon() } }
}
