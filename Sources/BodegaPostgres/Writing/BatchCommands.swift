#if Postgres
import Foundation

/// The statements that apply a batch, in parts of bounded size.
struct BatchCommands: Sendable {

    let plan: WritePlan
    let request: ChangeRequest
    /// Whether to lock the table, after too many conflicts.
    let locksTable: Bool
    /// Whether the transaction has begun, and the table is locked if it has to be.
    var isBegun = false

    /// The minimum number of items for `COPY`, which costs an extra round trip.
    private static let minimumToCopy = 500
    private static let maximumRows = 2_000
    private static let maximumBytes = 4 << 20
    private static let maximumKeys = 10_000
    private static let maximumKeysOfChange = 1_000

    /// Whether to copy the items into the table if they are new.
    var mayCopy: Bool { plan.written.count >= Self.minimumToCopy }

    static let beginSerializable = Statement("BEGIN ISOLATION LEVEL SERIALIZABLE")

    /// Whether the batch depends on the items that it finds.
    var removes: Bool { plan.removesAll || !plan.removed.isEmpty }

    /// The statements that begin the transaction and remove items.
    ///
    /// A batch that only writes does not depend on other rows, and all batches lock rows in the same order, so READ
    /// COMMITTED suffices. A removal depends on the rows that it finds: two batches that each remove what the other one
    /// writes would both find nothing. So a batch that removes is SERIALIZABLE, and repeated after a conflict.
    var beginning: [Command] {
        var commands: [Command] = []
        if !isBegun {
            commands.append(removes ? Command(Self.beginSerializable) : .begin)
            // Before the snapshot of the transaction is taken.
            if removes, locksTable { commands.append(Command(ItemStatements.lockTable)) }
        }
        if plan.removesAll {
            commands.append(ItemStatements.removeAll(request))
        } else if !plan.removed.isEmpty {
            let keys = merged(plan.removed, plan.written.map(\.key))
            for part in Self.parts(of: keys, Self.maximumKeys) {
                commands.append(ItemStatements.lockMany.command(collection: request.collection, part))
            }
            for part in Self.parts(of: plan.removed, Self.maximumKeys) {
                commands.append(ItemStatements.removeMany.command(collection: request.collection, part))
            }
        }
        return commands
    }

    /// Returns the places in `plan.removed` of the items that existed, from the results of ``beginning``.
    func present(in answers: [QueryResult]) throws -> Set<Int> {
        var places: Set<Int> = []
        let removals = answers.suffix(Self.parts(of: plan.removed, Self.maximumKeys).count)
        for (part, answer) in removals.enumerated() {
            for row in 0..<answer.count {
                let place: Int64 = try answer.number(row, 0)
                places.insert(part * Self.maximumKeys + Int(place) - 1)
            }
        }
        return places
    }

    /// The statements that log the changes and commit, by the places in `plan.removed` of the items that existed.
    func ending(present: Set<Int>) -> [Command] { changes(present) + [.commit] }

    /// The statements after ``beginning``, generated lazily.
    func rest(present: Set<Int>) -> some Sequence<Command> {
        let writes = plan.written.isEmpty ? [] : [Command(ItemStatements.nextBatch)]
        let parts = parts.lazy.map { part in self.write(plan.written[part]) }
        return [AnySequence(writes), AnySequence(parts), AnySequence(ending(present: present))].lazy.joined()
    }

    /// All statements of a batch, if its log does not depend on which items existed. They are generated lazily.
    var all: some Sequence<Command> {
        [AnySequence(beginning), AnySequence(rest(present: []))].lazy.joined()
    }

    // MARK: Parts

    /// The rows of each statement, which all set the date of creation, or none of them.
    private var parts: [Range<Int>] {
        var parts: [Range<Int>] = []
        var (start, size) = (0, 0)
        for (index, row) in plan.written.enumerated() {
            let rowSize = row.data.count + row.key.bytes.count + (row.key.long?.count ?? 0)
            let isOther = row.setsDates != plan.written[start].setsDates
            if index > start, isOther || index - start == Self.maximumRows || size + rowSize > Self.maximumBytes {
                parts.append(start..<index)
                (start, size) = (index, 0)
            }
            size += rowSize
        }
        if start < plan.written.count { parts.append(start..<plan.written.count) }
        return parts
    }

    private func write(_ rows: ArraySlice<WritePlan.Row>) -> Command {
        func column<Value: BinaryElement>(_ value: @escaping (WritePlan.Row) -> Value) -> some BinaryValue {
            BinaryArray(rows.lazy.map(value))
        }
        let parameters = Parameters(
            capacity: rows.reduce(0) { $0 + $1.data.count + 100 }, request.collection, column { $0.key.shard },
            column { $0.key.bytes }, column { $0.key.long }, column { Int64($0.place) }, column { $0.created },
            column { $0.updated }, column { $0.data })
        let setsDates = rows.first?.setsDates == true
        return Command(setsDates ? ItemStatements.writeManyWithDates : ItemStatements.writeMany, parameters)
    }

    private func changes(_ present: Set<Int>) -> [Command] {
        var commands: [Command] = []
        // The statement `removeAll` has logged its changes in the parts before.
        var part: Int32 = plan.removesAll ? ItemStatements.partsOfRemovingAll : 0
        var (removed, written): ([[UInt8]], [[UInt8]]) = ([], [])
        var size = 0
        func end() {
            commands.append(
                Command(
                    ItemStatements.noteChange, request.collection, request.origin, request.identifier, part,
                    BinaryArray(written), BinaryArray(removed)))
            part += 1
            (removed, written, size) = ([], [], 0)
        }
        func makeRoom(for key: [UInt8]) {
            if removed.count + written.count == Self.maximumKeysOfChange || size + key.count > Self.maximumBytes,
                size > 0
            {
                end()
            }
            size += key.count
        }
        for step in plan.steps {
            switch step {
            case .removedIfThere(_, let place) where !present.contains(place): continue
            case .removed(let key), .removedIfThere(let key, _):
                // Within a row of the log, removals come before writes.
                if !written.isEmpty { end() }
                makeRoom(for: key)
                removed.append(key)
            case .written(let key):
                makeRoom(for: key)
                written.append(key)
            }
        }
        // A request is logged even if it has changed nothing.
        if size > 0 || commands.isEmpty && !plan.removesAll { end() }
        return commands
    }

    private static func parts<Element>(of elements: [Element], _ size: Int) -> [[Element]] {
        stride(from: 0, to: elements.count, by: size).map { Array(elements[$0..<min($0 + size, elements.count)]) }
    }

    /// The distinct keys of two lists, in lock order.
    private func merged(_ left: [ItemKey], _ right: [ItemKey]) -> [ItemKey] {
        (left + right).sorted { $0 < $1 }.reduce(into: []) { keys, key in
            if let last = keys.last, !(last < key) { return }
            keys.append(key)
        }
    }
}
#endif
