/// Batches for several engines of one database that are applied together, all or none.
///
/// 1. The group has a batch for each member, an engine that may be wrapped. It passes the first member its batch by
///    ``StorageBackend/apply(_:)-(StorageBatch)``, with itself as the ``StorageBatch/group``.
/// 2. The wrappers do what they always do with a batch, and pass the group on with it. The innermost engine calls
///    ``join(_:collection:_:)`` instead of applying the batch.
/// 3. That call keeps the batch, and passes the next member its batch. So the calls of the members are nested, in one
///    task.
/// 4. The last member's call has all batches. It applies them by ``StorageDatabase/apply(_:)``.
/// 5. Each call returns the outcome of its batch, or throws, and the wrappers finish: a cache takes over what was
///    written, or drops it.
///
/// A wrapper that repeats a call after an error repeats those that are nested in it, too. No other wrapper repeats
/// them: an error of another member's call arrives as a ``StorageGroupError``.
///
/// The calls are in one task, so `state` is never contended.
public final class StorageBatchGroup: Sendable {

    private struct State {
        /// The number of the member whose batch was passed on last.
        var member = 0
        var parts: [StoragePart] = []
        /// The outcomes, once all batches are applied.
        var outcomes: [BatchOutcome] = []
        var answers: [StorageAnswer<BatchOutcome>] = []
    }

    private let database: any StorageDatabase
    private let members: [(engine: any StorageBackend, batch: StorageBatch)]
    private let state = Locked(State())

    private init(_ database: any StorageDatabase, _ members: [(engine: any StorageBackend, batch: StorageBatch)]) {
        (self.database, self.members) = (database, members)
    }

    /// Applies batches for several engines of one database, in their order: all of them, or none if a condition of any
    /// of them is not met or an error is thrown.
    ///
    /// - Parameter batches: The engines and their batches.
    /// - Returns: The answers, in the same order.
    /// - Throws: A ``StorageError``, with ``StorageError/Code/invalidArgument`` if the engines are not in one database,
    ///   if two of the batches concern the same item or have different identifiers, or if a wrapper of an engine
    ///   applies batches in another way.
    public static func apply(
        _ batches: [(engine: any StorageBackend, batch: StorageBatch)]
    ) async throws -> [StorageAnswer<BatchOutcome>] {
        guard let first = batches.first else { return [] }
        if batches.count == 1 { return [try await first.engine.apply(first.batch)] }
        guard batches.allSatisfy({ $0.batch.identifier == first.batch.identifier }) else {
            throw StorageError(
                .invalidArgument, "Batches that are applied together must have the same identifier, or none.")
        }
        let database = try first.engine.requiredDatabase()
        for (engine, _) in batches.dropFirst() where try engine.requiredDatabase() !== database {
            throw StorageError(
                .invalidArgument,
                """
                The engines are not in one database, so they can't change together. Open one engine, and the others \
                with its collection(named:).
                """)
        }
        var attempts = ConditionalAttempts()
        while true {
            let group = StorageBatchGroup(database, batches)
            do {
                try await group.pass(to: 0)
            } catch let error as StorageGroupError {
                throw error.cause
            }
            let answers = Array(group.state.withLock { $0.answers.reversed() })
            if answers.allSatisfy(\.value.wasApplied) { return answers }
            // Wrappers add conditions that what they have read is still stored. Only the batches' own are an answer.
            guard try await areMet(batches) else { return answers }
            try Task.checkCancellation()
            try attempts.fail(batches.lazy.compactMap { $0.batch.conditions?.first?.key }.first)
        }
    }

    /// Whether the conditions of all batches are met now; `false` if that can't be told, or if batches that were not
    /// applied never will be.
    private static func areMet(
        _ batches: [(engine: any StorageBackend, batch: StorageBatch)]
    ) async throws -> Bool {
        for (engine, batch) in batches {
            if batch.basis != nil || batch.identifier != nil { return false }
            guard let conditions = batch.conditions, !conditions.isEmpty else { continue }
            let request = FetchRequest(conditions.map(\.key), options: ReadOptions(needsOriginal: true))
            let items = Dictionary(
                try await engine.fetch(request).value.map { ($0.key, $0.data) }, uniquingKeysWith: { first, _ in first }
            )
            guard conditions.allSatisfy({ items[$0.key] == $0.data }) else { return false }
        }
        return true
    }

    /// The batches of all members.
    var batches: [StorageBatch] { members.map(\.batch) }

    /// Passes a member its batch.
    private func pass(to number: Int) async throws {
        state.withLock { $0.member = number }
        var (engine, batch) = members[number]
        batch.group = self
        let answer = try await engine.apply(batch)
        try state.withLock { state in
            // Otherwise its batch was not a part of the others, or not the only one.
            guard state.outcomes.count == members.count else { throw StorageError.noPart(of: engine) }
            state.answers.append(answer)
        }
    }

    /// Adds a batch to the group instead of applying it, and returns when the group is applied.
    ///
    /// An engine with a ``StorageBackend/database`` of its own calls it with each batch that has a
    /// ``StorageBatch/group``.
    ///
    /// - Parameters:
    ///   - engine: The engine.
    ///   - collection: What distinguishes its collection from the others of the database.
    ///   - batch: The batch.
    /// - Returns: The outcome of the batch.
    /// - Throws: The error of the database, or a ``StorageGroupError`` with that of another member.
    public func join(
        _ engine: any StorageBackend, collection: some Hashable & Sendable, _ batch: StorageBatch
    ) async throws -> StorageAnswer<BatchOutcome> {
        let (number, parts) = try state.withLock { state in
            // A batch that a wrapper has divided would be applied in several transactions.
            guard state.outcomes.isEmpty else { throw StorageError.noPart(of: members[state.member].engine) }
            let number = state.member
            // Those after it belong to an attempt that has failed.
            state.parts.removeSubrange(min(number, state.parts.count)...)
            var part = StoragePart(engine: engine, collection: AnyHashable(collection), batch: batch)
            part.batch.group = nil
            try checkKeys(of: part, member: number, beside: state.parts)
            state.parts.append(part)
            return (number, state.parts)
        }
        if parts.count < members.count {
            do {
                try await pass(to: number + 1)
            } catch {
                state.withLock { $0.member = number }
                throw error as? StorageGroupError ?? StorageGroupError(cause: error)
            }
        } else {
            let outcomes = try await database.apply(parts)
            state.withLock { $0.outcomes = outcomes }
        }
        return state.withLock { StorageAnswer($0.outcomes[number]) }
    }

    /// Checks that no other batch concerns an item of a member's one: it would read what is not written yet.
    private func checkKeys(of part: StoragePart, member number: Int, beside others: [StoragePart]) throws {
        // A wrapper can have replaced the removal of all items by those that it has read.
        func removesAll(_ number: Int) -> Bool {
            members[number].batch.operations.contains { if case .removeAll = $0 { true } else { false } }
        }
        for (other, otherPart) in others.enumerated() where otherPart.collection == part.collection {
            if let own = part.keys, let keys = otherPart.keys, own.isDisjoint(with: keys), !removesAll(number),
                !removesAll(other)
            {
                continue
            }
            throw StorageError(
                .invalidArgument,
                "Two batches for one collection can't read and change the same item in one transaction. Use one batch.")
        }
    }
}

/// The error of another batch of a ``StorageBatchGroup``. It names no item of the engine through which it passes.
public struct StorageGroupError: Error {
    /// The error.
    public var cause: any Error
}

extension StorageError {
    fileprivate static func noPart(of engine: any StorageBackend) -> StorageError {
        StorageError(
            .invalidArgument,
            """
            \(type(of: engine)) has not passed on its batch as a part of a group, or not as one batch. Its items may \
            be changed without the others. Pass on StorageBatch.group, or let the property database be nil.
            """)
    }
}
