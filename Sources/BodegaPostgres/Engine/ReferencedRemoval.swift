#if Postgres
import Bodega
import Foundation

/// What a write has changed beyond its own items, in all of its attempts.
final class WriteConsequences: Sendable {

    private struct State {
        var collections: Set<Int32> = []
        var rowsInLog = 0
    }

    private let state = Locked(State())

    var collections: Set<Int32> { state.withLock { $0.collections } }
    /// The number of rows that they add to the log.
    var rowsInLog: Int { state.withLock { $0.rowsInLog } }

    func add(_ collection: Int32, rowsInLog: Int) {
        state.withLock { state in
            state.collections.insert(collection)
            state.rowsInLog += rowsInLog
        }
    }
}

/// The removal of items that references name, and what follows from it, in the SERIALIZABLE transaction of the removal.
///
/// 1. It reads the references, and the identifiers of the items before they are removed. Items that the transaction
///    writes again are not removed.
/// 2. The transaction removes and writes its items, but does not log that yet.
/// 3. It reads items that name removed ones, in parts, and removes or changes them. Each part is sent with the request
///    of the next one. Before the first part, the transaction's own changes are logged, with a shared origin, so that
///    followers show all together.
/// 4. It logs what is not logged yet, and commits.
///
/// The consequences have an origin of their own, because they are not what the writer has written: a store that removes
/// an item finds out in the log what else is gone.
///
/// Items are read without locks. If another transaction has changed or removed one since the snapshot, changing it
/// fails, and the transaction is repeated.
///
/// Nothing is committed unless this program has sent all parts. So the request, which is logged before them, need not
/// wait for their locks, see `PostgresDatabase.Write.locksFirst`: a part that is still on its way changes no item that
/// a later write has changed.
struct ReferencedRemoval {

    private let session: Session
    private let date: Int64
    private let origin = StorageOrigin.random().shared
    /// The collections whose items have references.
    private var sources: [ExactText: PostgresStorageEngine] = [:]
    private var cascade: ReferenceCascade

    /// The size from which a part has no more items, in bytes.
    private static let largePart = 16 << 20

    /// Makes the server look up one item after the other in the same way, without planning that each time.
    private static let planOnce = Command(
        Statement("SELECT set_config('plan_cache_mode', 'force_generic_plan', true)"))
    private static let planAsUsual = Command(Statement("SELECT set_config('plan_cache_mode', 'auto', true)"))

    /// Reads the references, in a transaction that has begun.
    ///
    /// - Parameter engine: The engine whose time is the date of items that are changed.
    init(by engine: PostgresStorageEngine, _ session: Session) async throws {
        self.session = session
        date = ItemDate.number(of: engine.now())
        let (links, numbers) = try ReferenceTable.links(await session.run(ReferenceTable.linkCommands))
        cascade = ReferenceCascade(links)
        for (name, number) in numbers {
            sources[name] = PostgresStorageEngine(
                database: engine.database, name: name.text, number: number, now: engine.now)
        }
    }

    // MARK: Identifiers

    /// Notes the items that a plan removes, before it does.
    ///
    /// - Returns: The places in ``WritePlan/removed`` of the items that exist.
    mutating func note(_ plan: WritePlan, of engine: PostgresStorageEngine) async throws -> Set<Int> {
        let name = engine.collectionName
        let stays =
            cascade.concerns(name)
            ? cascade.identifiers(
                ofWrites: try plan.written.map {
                    .write(key: try $0.key.full.withUnsafeBytes(ItemKey.key), data: $0.data)
                },
                in: name) : []
        if plan.removesAll {
            let written = Set(try plan.written.map { try $0.key.full.withUnsafeBytes(ItemKey.key) })
            let cascade = cascade
            let identifiers = try await ItemScan.run(.data, ofCollection: engine.number, session) { row in
                let isWritten = written.contains(try row.key())
                return isWritten ? nil : cascade.identifiers(of: try row.data(), in: name)
            }
            self.cascade.removed(identifiers.compactMap(\.self), besides: stays, from: name)
            return []
        }
        let written = Set(plan.written.map(\.key.full))
        var present: Set<Int> = []
        var identifiers: [[ReferenceIdentifier?]] = []
        for start in stride(from: 0, to: plan.removed.count, by: ReferenceCascade.partSize) {
            let keys = Array(plan.removed[start..<min(start + ReferenceCascade.partSize, plan.removed.count)])
            let reads = keys.map { Command(ItemStatements.smallData, $0.shard, engine.number, $0.bytes) }
            let answers = try await session.run([Self.planOnce] + reads + [Self.planAsUsual])
            for (index, (key, rows)) in zip(keys, answers.dropFirst()).enumerated() where rows.count > 0 {
                present.insert(start + index)
                if written.contains(key.full) { continue }
                var data = rows.bytes(0, 0) == nil ? nil : try rows.data(0, 0)
                if data == nil {
                    let read = Command(ItemStatements.data, key.shard, engine.number, key.bytes)
                    data = try await session.run(read).data(0, 0)
                }
                identifiers.append(cascade.identifiers(of: data ?? Data(), in: name))
            }
        }
        cascade.removed(identifiers, besides: stays, from: name)
        return present
    }

    // MARK: Consequences

    /// Carries out what follows, and commits.
    ///
    /// - Parameters:
    ///   - consequences: Receives what was changed.
    ///   - changes: Returns the commands that log the changes of the transaction itself.
    ///   - ending: Commands to send before the commit.
    /// - Throws: ``/Bodega/StorageError/Code/referenced`` if a reference refuses the removal.
    consuming func finish(
        _ consequences: WriteConsequences, ending: [Command] = [], _ changes: (_ isShared: Bool) -> [Command]
    ) async throws {
        // Sent with the next message.
        var unsent = [ScanStatement.useIndex, Self.planOnce]
        var isLogged = false
        while let step = cascade.next() {
            switch step {
            case .read(let name, let scan):
                guard let engine = sources[ExactText(name)] else {
                    try cascade.receive([], end: nil)
                    continue
                }
                var reader = IndexScan(
                    engine, session, .data, beginning: unsent, firstBatch: ReferenceCascade.partSize)
                var end: StoragePlace?
                var (items, size) = ([StorageItem](), 0)
                let current = cascade
                try await reader.run(scan) { item in
                    if current.isWanted(item) {
                        items.append(item)
                        size += item.data.count
                    }
                    let isFull = items.count >= ReferenceCascade.partSize || size >= Self.largePart
                    guard isFull, scan.continued(after: item.place) != nil else { return true }
                    end = item.place
                    return false
                }
                unsent = reader.beginning
                try cascade.receive(items, end: end)
            case .apply(let name, let operations):
                guard let engine = sources[ExactText(name)] else { continue }
                if !isLogged { unsent += changes(true) }
                isLogged = true
                let commands = commands(operations, engine)
                consequences.add(engine.number, rowsInLog: 1)
                unsent += commands
            }
        }
        if !isLogged { unsent += changes(false) }
        _ = try await session.run(unsent + ending + [.commit])
    }

    /// The commands that apply operations to items which were read in the transaction.
    ///
    /// Each item has a statement, in lock order. A statement on many items would read the whole collection each time if
    /// the server has no statistics of it yet, or old ones.
    private func commands(_ operations: [StorageOperation], _ engine: PostgresStorageEngine) -> [Command] {
        let (number, plan) = (engine.number, WritePlan(StorageBatch(operations), in: engine.shards, at: date))
        let removals = plan.removed.sorted { $0 < $1 }.map { key in
            Command(ItemStatements.removeExisting, key.shard, number, key.bytes)
        }
        let writes = plan.written.map { row in
            let parameters = Parameters(
                capacity: row.data.count + 128, row.key.shard, number, row.key.bytes, row.updated, row.data)
            return Command(ItemStatements.overwriteExisting, parameters)
        }
        let request = ChangeRequest(collection: number, origin: origin.id)
        // They exist, or the statements fail.
        let present = Set(plan.removed.indices)
        return removals + writes + BatchCommands(plan: plan, request: request).changes(present: present)
    }
}
#endif
