#if Postgres
import Foundation

/// The statements that apply a batch, in parts of limited size.
struct BatchCommands: Sendable {

    let plan: WritePlan
    let request: ChangeRequest

    /// From about here on, `COPY` is worth a round trip more.
    private static let fewestToCopy = 500
    private static let mostRows = 2_000
    private static let mostBytes = 4 << 20
    private static let mostKeysOfChange = 1_000

    /// Whether the items may be copied into the table if they are new.
    var mayCopy: Bool { plan.written.count >= Self.fewestToCopy }

    /// Begins the transaction and removes.
    ///
    /// Writing alone never looks at what others do, and rows are locked in the same order by all, so each statement may
    /// see what was committed last. Removing goes by what the statement sees; seeing part of somebody else's batch it
    /// would leave the rest behind, so it asks for one view throughout, and tries again if that view was overtaken.
    var beginning: [Command] {
        let removes = plan.removesAll || !plan.removed.isEmpty
        var commands = [
            Command(
                Statement(removes ? "BEGIN ISOLATION LEVEL REPEATABLE READ" : "BEGIN ISOLATION LEVEL READ COMMITTED"))
        ]
        if plan.removesAll {
            var parameters = Parameters()
            parameters.append(request.collection)
            parameters.append(request.origin)
            parameters.append(request.identifier)
            commands.append(Command(ItemStatements.removeAll, parameters))
        } else if !plan.removed.isEmpty {
            let keys = merged(plan.removed, plan.written.map(\.key))
            commands.append(ItemStatements.lockMany.command(collection: request.collection, keys))
            commands.append(ItemStatements.removeMany.command(collection: request.collection, plan.removed))
        }
        return commands
    }

    /// Notes the changes and ends the transaction.
    var ending: [Command] {
        changes + [Command(Statement("COMMIT"))]
    }

    /// All of it, made as it is asked for.
    var all: some Sequence<Command> {
        let writes = plan.written.isEmpty ? [] : [Command(ItemStatements.nextBatch)]
        let parts = parts.lazy.map { part in self.write(plan.written[part]) }
        return [AnySequence(beginning + writes), AnySequence(parts), AnySequence(ending)].lazy.joined()
    }

    // MARK: Parts

    private var parts: [Range<Int>] {
        var parts: [Range<Int>] = []
        var (start, size) = (0, 0)
        for (index, row) in plan.written.enumerated() {
            let rowSize = row.data.count + row.key.bytes.count + (row.key.long?.count ?? 0)
            if index > start, index - start == Self.mostRows || size + rowSize > Self.mostBytes {
                parts.append(start..<index)
                (start, size) = (index, 0)
            }
            size += rowSize
        }
        if start < plan.written.count { parts.append(start..<plan.written.count) }
        return parts
    }

    private func write(_ rows: ArraySlice<WritePlan.Row>) -> Command {
        var parameters = Parameters(capacity: rows.reduce(0) { $0 + $1.data.count + 100 })
        parameters.append(request.collection)
        parameters.appendArray(of: .int2, rows) { $0.append($1.key.shard) }
        parameters.appendArray(of: .bytea, rows) { $0.append($1.key.bytes) }
        parameters.appendArray(of: .bytea, rows) { $0.append($1.key.long) }
        parameters.appendArray(of: .int8, rows) { $0.append(Int64($1.place)) }
        parameters.appendArray(of: .int8, rows) { $0.append($1.created) }
        parameters.appendArray(of: .int8, rows) { $0.append($1.updated) }
        parameters.appendArray(of: .bytea, rows) { $0.append($1.data) }
        return Command(plan.setsDates ? ItemStatements.writeManyWithDates : ItemStatements.writeMany, parameters)
    }

    private var changes: [Command] {
        // Removing all has noted itself, as part 0.
        var part: Int32 = plan.removesAll ? 1 : 0
        func note(written: ArraySlice<[UInt8]>, removed: ArraySlice<[UInt8]>) -> Command {
            var parameters = Parameters()
            parameters.append(request.collection)
            parameters.append(request.origin)
            parameters.append(request.identifier)
            parameters.append(part)
            parameters.appendArray(of: .bytea, written) { $0.append($1) }
            parameters.appendArray(of: .bytea, removed) { $0.append($1) }
            part += 1
            return Command(ItemStatements.noteChange, parameters)
        }
        return parts(of: plan.gone).map { note(written: [], removed: $0) }
            + parts(of: plan.writtenKeys).map { note(written: $0, removed: []) }
    }

    private func parts(of keys: [[UInt8]]) -> [ArraySlice<[UInt8]>] {
        stride(from: 0, to: keys.count, by: Self.mostKeysOfChange).map { start in
            keys[start..<min(start + Self.mostKeysOfChange, keys.count)]
        }
    }

    /// Two lists in order as one; a key in both stands there once.
    private func merged(_ left: [ItemKey], _ right: [ItemKey]) -> [ItemKey] {
        (left + right).sorted { $0 < $1 }.reduce(into: []) { keys, key in
            if let last = keys.last, !(last < key) { return }
            keys.append(key)
        }
    }
}
#endif
