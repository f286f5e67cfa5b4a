#if Postgres
import Foundation

/// The statements that carry out a plan in a transaction, in parts of bounded size.
struct BatchCommands: Sendable {

    let plan: WritePlan
    let request: ChangeRequest

    private static let maximumRows = 2_000
    private static let maximumBytes = 4 << 20
    private static let maximumKeys = 10_000
    private static let maximumKeysOfChange = 1_000

    /// The statements that lock items which exist.
    ///
    /// - Parameter keys: The keys of the items, in any order.
    static func locks(_ keys: [ItemKey], collection: Int32) -> [Command] {
        // The distinct keys in lock order.
        let keys = keys.sorted { $0 < $1 }.reduce(into: [ItemKey]()) { keys, key in
            if let last = keys.last, !(last < key) { return }
            keys.append(key)
        }
        return parts(of: keys, maximumKeys).map { ItemStatements.lockMany.command(collection: collection, $0) }
    }

    /// The statements that remove items.
    ///
    /// - Parameter ifUnreferenced: Whether they do nothing if references lead to the collection.
    func removals(ifUnreferenced: Bool = false) -> [Command] {
        if plan.removesAll { return [ItemStatements.removeAll(request, ifUnreferenced: ifUnreferenced)] }
        let statement = ifUnreferenced ? ItemStatements.removeManyUnreferenced : ItemStatements.removeMany
        return Self.parts(of: plan.removed, Self.maximumKeys).map { part in
            statement.command(collection: request.collection, part)
        }
    }

    /// Returns the places in `plan.removed` of the items that existed, from the results of
    /// ``removals(ifUnreferenced:)``.
    func present(in answers: some Collection<QueryResult>) throws -> Set<Int> {
        if plan.removesAll { return [] }
        var places: Set<Int> = []
        for (part, answer) in answers.enumerated() {
            for row in 0..<answer.count {
                let place: Int64 = try answer.number(row, 0)
                places.insert(part * Self.maximumKeys + Int(place) - 1)
            }
        }
        return places
    }

    /// The statements that write items, generated lazily.
    var writes: some Sequence<Command> {
        let isEmpty = plan.written.isEmpty && plan.passing.isEmpty
        let number = isEmpty ? [] : [Command(ItemStatements.nextBatch)]
        let parts = Self.parts(of: plan.written).lazy.map { part in self.write(plan.written[part]) }
        return [AnySequence(number), AnySequence(parts), AnySequence(passages)].lazy.joined()
    }

    /// The statements that write and remove the items of ``WritePlan/passing``, after the number of the batch was
    /// assigned.
    var passages: [Command] {
        let writes = Self.parts(of: plan.passing).map { write(plan.passing[$0]) }
        let removals = Self.parts(of: plan.passing.map(\.key), Self.maximumKeys).map { part in
            ItemStatements.removeMany.command(collection: request.collection, part)
        }
        return writes + removals
    }

    // MARK: Parts

    /// The rows of each statement, which all set the date of creation, or none of them.
    private static func parts(of rows: [WritePlan.Row]) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var (start, size) = (0, 0)
        for (index, row) in rows.enumerated() {
            let rowSize = row.data.count + row.key.bytes.count + (row.key.long?.count ?? 0)
            let isOther = row.setsDates != rows[start].setsDates
            if index > start, isOther || index - start == maximumRows || size + rowSize > maximumBytes {
                parts.append(start..<index)
                (start, size) = (index, 0)
            }
            size += rowSize
        }
        if start < rows.count { parts.append(start..<rows.count) }
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

    /// The statements that log the changes.
    ///
    /// - Parameter present: The places in `plan.removed` of the items that existed.
    func changes(present: Set<Int>) -> [Command] {
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
}
#endif
