#if Postgres
import Bodega
import Foundation

/// The batch of one collection in a ``BatchTransaction``.
struct BatchPart: Sendable {
    let engine: PostgresStorageEngine
    let plan: WritePlan
    /// The keys and data that must be stored, `nil` for none, in lock order.
    let conditions: [(key: ItemKey, data: Data?)]
    /// The end of the log on which it is based, see `StorageBatch.basis`.
    let basis: StorageCursor?
    let request: ChangeRequest

    /// - Parameter request: The identity of the part, unique among all transactions.
    init(
        _ engine: PostgresStorageEngine, _ plan: WritePlan, if conditions: [StorageCondition] = [],
        basis: StorageCursor? = nil, request: ChangeRequest
    ) {
        (self.engine, self.plan, self.basis, self.request) = (engine, plan, basis, request)
        self.conditions = conditions.map { (ItemKey($0.key, in: engine.shards), $0.data) }.sorted { $0.key < $1.key }
    }

    /// Whether it is applied only in some states of its collection.
    var hasConditions: Bool { !conditions.isEmpty || basis != nil }

    fileprivate var removes: Bool { plan.removesAll || !plan.removed.isEmpty }
    fileprivate var commands: BatchCommands { commands(isShared: false) }
    fileprivate func commands(isShared: Bool) -> BatchCommands {
        BatchCommands(plan: plan, request: isShared ? request.shared : request)
    }
    fileprivate var changedKeys: [ItemKey] { plan.removesAll ? [] : plan.removed + plan.written.map(\.key) }

    /// The commands that read the items of the conditions.
    fileprivate func reads(_ statement: KeyedStatement) -> [Command] {
        engine.commands(of: conditions.map(\.key), statement)
    }

    /// Whether the conditions are met, by the results of ``reads(_:)``.
    fileprivate func areMet(_ answers: ArraySlice<QueryResult>) throws -> Bool {
        let found = try PostgresStorageEngine.values(answers) { _, rows, row in try rows.data(row, 1) }
        let data = Dictionary(found.map { ($0.index, $0.value) }) { $1 }
        return conditions.indices.allSatisfy { conditions[$0].data == data[$0] }
    }
}

/// A batch, or batches of several collections, in one transaction, which applies all or none.
///
/// 1. It begins, and locks the table if it has to.
/// 2. If it has conditions or removes items, it locks all items that it concerns, in lock order: by collection, then by
///    key. Otherwise it writes them in this order.
/// 3. It checks the conditions and the bases. If one is not met, it is rolled back.
/// 4. It removes items, and finds which existed.
/// 5. It writes items, and removes those again that it only wrote in passing, then logs all changes, and commits.
///
/// If references lead to a collection of which it removes items, steps 4 and 5 are those of ``ReferencedRemoval``.
///
/// A transaction that only writes does not depend on other rows, so READ COMMITTED suffices. A removal depends on the
/// rows that it finds: two batches that each remove what the other one writes would both find nothing. So a transaction
/// that removes is SERIALIZABLE, and repeated after a conflict.
///
/// Items of conditions that exist are locked, which suffices for a transaction that only writes. Absent items can't be
/// locked. If the transaction writes them, it fails in a SERIALIZABLE transaction when another writer has added them,
/// and is repeated. Otherwise the table is locked before the snapshot is taken. So it is if there is a basis, as any
/// writer could add to the log. A transaction is SERIALIZABLE, too, if it demands an item that references may name and
/// that it does not write.
struct BatchTransaction: Sendable {

    /// In lock order.
    private let parts: [BatchPart]

    /// The minimum number of items for `COPY`, which costs an extra round trip.
    private static let minimumToCopy = 500
    /// The first attempt in which a transaction that may conflict with others locks the table.
    private static let firstAttemptWithLock = 3

    static let beginSerializable = Command(Statement("BEGIN ISOLATION LEVEL SERIALIZABLE"))

    /// - Parameter parts: The parts, at least one. Several of one collection have different items.
    init(_ parts: [BatchPart]) {
        self.parts = parts.enumerated().sorted {
            ($0.element.request.collection, $0.offset) < ($1.element.request.collection, $1.offset)
        }.map(\.element)
    }

    // MARK: Properties

    /// Whether it changes nothing, so that only its conditions matter.
    var isCheck: Bool { parts.allSatisfy(\.plan.isEmpty) }

    var hasConditions: Bool { parts.contains(where: \.hasConditions) }

    /// The part by whose request its outcome is determined: one that logs its request after all rows are locked, if
    /// there is any. A removal of all items logs it earlier.
    private var lead: BatchPart {
        let changing = parts.filter { !$0.plan.isEmpty }
        return changing.first { !$0.plan.removesAll } ?? changing.first ?? parts[0]
    }

    /// The write of a database that applies it.
    var write: PostgresDatabase.Write {
        let (lead, changing) = (lead, parts.filter { !$0.plan.isEmpty })
        let isOnlyRemoval = changing.count == 1 && lead.plan.written.isEmpty && lead.plan.passing.isEmpty
        return PostgresDatabase.Write(
            request: lead.request,
            collections: Set(parts.map(\.request.collection)),
            changedCollections: Set(changing.map(\.request.collection)),
            locksFirst: !lead.plan.removesAll || isOnlyRemoval,
            rowsInLog: changing.reduce(0) { $0 + 1 + $1.plan.steps.count / 1_000 }
        ) { session, attempt, consequences in try await apply(session, attempt, consequences) }
    }

    // MARK: Applying

    /// - Returns: `false` if a condition is not met; the transaction is rolled back then.
    /// - Throws: ``/Bodega/StorageError/Code/referenced``, after it was rolled back, if a reference refuses a removal.
    func apply(_ session: Session, _ attempt: Int, _ consequences: WriteConsequences) async throws -> Bool {
        try await Self.rollingBackIfReferenced(session) {
            try await apply(session, attempt, consequences, isSerializable: removesOrDemandsAbsence)
        }
    }

    /// Carries out changes, and rolls the transaction back if a reference refuses them.
    static func rollingBackIfReferenced<Value>(
        _ session: Session, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as StorageError where error.code == .referenced {
            try await session.run(.rollback)
            throw error
        }
    }

    private func apply(
        _ session: Session, _ attempt: Int, _ consequences: WriteConsequences, isSerializable: Bool
    ) async throws -> Bool {
        let patience = try await patience(session)
        let begin = isSerializable ? Self.beginSerializable : .begin
        let check = referenceCheck(isSerializable)
        var beginning = [begin] + tableLock(attempt) + locks + check
        var referenced: Set<Int32> = []
        if hasConditions {
            let state = try await readConditions(beginning, ItemStatements.lockedDataOfMany, session, patience)
            guard state.areMet else {
                try await session.run(.rollback, patience: patience)
                return false
            }
            if let found = state.beginning.last, !check.isEmpty { referenced = try ReferenceMarks.collections(found) }
            if !isSerializable, !referenced.isEmpty {
                try await session.run(.rollback, patience: patience)
                return try await apply(session, attempt, consequences, isSerializable: true)
            }
            beginning = []
        } else if parts.count == 1, parts[0].plan.written.count >= Self.minimumToCopy,
            try await copy(parts[0], beginning, session, patience)
        {
            return true
        }
        var present = [Set<Int>](repeating: [], count: parts.count)
        if parts.contains(where: \.removes) {
            let removals = parts.map { $0.commands.removals(ifUnreferenced: true) }
            let answers = try await session.run(beginning + removals.joined(), patience: patience)
            var next = beginning.count
            if next > 0 { referenced = try ReferenceMarks.collections(answers[next - 1]) }
            for (index, part) in parts.enumerated() {
                present[index] = try part.commands.present(in: answers[next..<(next + removals[index].count)])
                next += removals[index].count
            }
            beginning = []
        }
        if parts.contains(where: { $0.removes && referenced.contains($0.request.collection) }) {
            try await remove(referenced, present, session, patience, consequences)
            return true
        }
        let rest = [AnySequence(beginning), writes, AnySequence(changes(present) + [.commit])].lazy.joined()
        _ = try await session.run(rest, patience: patience)
        return true
    }

    /// Removes the items of collections to which references lead, with what follows from that, and commits.
    ///
    /// - Parameter present: The items of other collections that were removed.
    private func remove(
        _ referenced: Set<Int32>, _ present: [Set<Int>], _ session: Session, _ patience: TimeInterval,
        _ consequences: WriteConsequences
    ) async throws {
        var (present, removals) = (present, [Command]())
        var removal = try await ReferencedRemoval(by: parts[0].engine, session)
        for (index, part) in parts.enumerated() where part.removes && referenced.contains(part.request.collection) {
            present[index] = try await removal.note(part.plan, of: part.engine)
            // A removal of all logs itself, before it is known whether anything follows.
            removals += part.commands(isShared: part.plan.removesAll).removals()
        }
        _ = try await session.run([AnySequence(removals), writes].lazy.joined(), patience: patience)
        let logged = present
        let isShared = parts.contains(where: \.plan.removesAll)
        try await removal.finish(consequences) { changes(logged, isShared: isShared || $0) }
    }

    private var writes: AnySequence<Command> {
        AnySequence(parts.lazy.map { AnySequence($0.commands.writes) }.joined())
    }

    /// Checks the conditions of a transaction that changes nothing, all at one moment.
    func areMet(_ session: Session) async throws -> Bool {
        let columns = ItemStatements.selecting(["i.data"])
        let state = try await readConditions([.beginSnapshot], columns, session, patience(session))
        _ = try await session.run(.commit)
        return state.areMet
    }

    private func changes(_ present: [Set<Int>], isShared: Bool = false) -> [Command] {
        zip(parts, present).flatMap { part, present in
            part.plan.isEmpty ? [] : part.commands(isShared: isShared).changes(present: present)
        }
    }

    private func patience(_ session: Session) async throws -> TimeInterval {
        var count = 0
        for part in parts {
            count += part.plan.written.count + part.plan.removed.count + part.conditions.count
            if part.plan.removesAll { count += try await part.engine.count(session) }
        }
        return parts[0].engine.patience(forItems: count)
    }

    // MARK: Beginning

    /// Whether its outcome depends on rows that others may add.
    private var removesOrDemandsAbsence: Bool {
        parts.contains { part in
            part.removes || part.basis != nil || part.conditions.contains { $0.data == nil }
        }
    }

    /// The last command of the beginning, which returns to which collections references lead; none if that does not
    /// matter.
    ///
    /// It matters to a removal. And it matters to a transaction that demands an item which it does not write: it may
    /// write another one that names the item, and a removal that began before would not find that.
    private func referenceCheck(_ isSerializable: Bool) -> [Command] {
        let concerned = parts.filter { part in
            if part.removes { return true }
            if isSerializable || part.conditions.isEmpty { return false }
            let written = Set(part.plan.written.map(\.key.full))
            return !part.conditions.allSatisfy { written.contains($0.key.full) }
        }
        if concerned.isEmpty { return [] }
        return [ReferenceMarks.referenced(among: Set(concerned.map(\.request.collection)))]
    }

    private func tableLock(_ attempt: Int) -> [Command] {
        let mayConflict = hasConditions || parts.count > 1 || parts[0].removes
        let mustLock = parts.contains { part in
            if part.basis != nil { return true }
            let absent = part.conditions.filter { $0.data == nil }
            if absent.isEmpty { return false }
            let written = Set(part.plan.written.map(\.key.full))
            return !absent.allSatisfy { written.contains($0.key.full) }
        }
        let locks = mustLock || mayConflict && attempt >= Self.firstAttemptWithLock
        return locks ? [Command(ItemStatements.lockTable)] : []
    }

    private var locks: [Command] {
        guard parts.contains(where: { !$0.conditions.isEmpty || !$0.plan.removed.isEmpty }) else { return [] }
        // The conditions of a single part are read in lock order, which locks their items.
        if parts.count == 1 {
            let conditions = Set(parts[0].conditions.map(\.key.full))
            if parts[0].changedKeys.allSatisfy({ conditions.contains($0.full) }) { return [] }
        }
        let collections = Dictionary(grouping: parts, by: \.request.collection).sorted { $0.key < $1.key }
        return collections.flatMap { collection, parts in
            BatchCommands.locks(parts.flatMap { $0.changedKeys + $0.conditions.map(\.key) }, collection: collection)
        }
    }

    /// Begins the transaction, and checks the conditions, which no other writer changes before it ends.
    private func readConditions(
        _ beginning: [Command], _ statement: KeyedStatement, _ session: Session, _ patience: TimeInterval
    ) async throws -> (areMet: Bool, beginning: ArraySlice<QueryResult>) {
        let reads = parts.map { $0.reads(statement) }
        let answers = try await session.run(beginning + reads.joined(), patience: patience)
        let begun = answers.prefix(beginning.count)
        var next = beginning.count
        for (part, reads) in zip(parts, reads) {
            guard try part.areMet(answers[next..<(next + reads.count)]) else { return (false, begun) }
            next += reads.count
        }
        for part in parts {
            if let basis = part.basis, try await !part.engine.isEnd(basis, session) { return (false, begun) }
        }
        return (true, begun)
    }

    // MARK: Bulk writes

    /// Writes new items by `COPY`, which is the fastest way but can't overwrite.
    ///
    /// - Returns: `false`, with nothing changed, if some of the items exist, or the transaction removes items that
    ///   references may name.
    private func copy(
        _ part: BatchPart, _ beginning: [Command], _ session: Session, _ patience: TimeInterval
    ) async throws -> Bool {
        let (plan, removals) = (part.plan, part.commands.removals(ifUnreferenced: true))
        let sample = stride(from: 0, to: plan.written.count, by: max(1, plan.written.count / 64))
        let begin = ItemStatements.beginBulk.command(
            collection: part.request.collection, sample.map { plan.written[$0].key })
        let answers = try await session.run(beginning + removals + [begin], patience: patience)
        guard let answer = answers.last else { throw PostgresFailure.noResult }
        let number: Int64 = try answer.number(0, 0)
        do {
            let isReferenced =
                try part.removes && !ReferenceMarks.collections(answers[beginning.count - 1]).isEmpty
            if try isReferenced || answer.flag(0, 1) {
                try await session.run(.rollback, patience: patience)
                return false
            }
            try await session.copy(
                ItemCopy.sql, from: ItemCopy(plan.written, request: part.request, batch: number), patience: patience)
        } catch let failure as PostgresFailure where failure.code == "23505" {
            // The sample missed an existing item, or another writer has added one since.
            try await session.run(.rollback, patience: patience)
            return false
        }
        let present = try part.commands.present(in: answers[beginning.count..<(answers.count - 1)])
        _ = try await session.run(
            part.commands.passages + changes([present]) + [.commit], patience: patience)
        return true
    }
}
#endif
