#if Postgres
import Bodega
import Foundation

/// A reader of items in the order of an index, or of insertion, in a transaction with one snapshot.
///
/// It reads batches, each of which begins after the last item of the batch before. The first batches are small, because
/// most readers need a few items. A large item is read alone, when it is its turn.
struct IndexScan {

    let engine: PostgresStorageEngine
    let session: Session
    /// The commands that begin the transaction, until they are sent with the first batch.
    private var beginning = [Command.beginSnapshot, ScanStatement.useIndex]
    private var pace = ScanPace()

    private static let firstBatch = 64
    private static let largestBatch = 1_024

    private struct Row {
        var entry: StorageEntry
        /// Whether the item is yet to be read.
        let isLarge: Bool
    }

    /// Receives an item, and returns whether the scan goes on.
    typealias Receiver = (StorageEntry) throws -> Bool

    init(_ engine: PostgresStorageEngine, _ session: Session) {
        self.engine = engine
        self.session = session
    }

    /// Passes on the items of a scan, see `QueryableStorageEngine.scan(_:_:)`.
    mutating func run(_ scan: StorageScan, _ receive: Receiver) async throws {
        switch scan {
        case .all(let position):
            _ = try await read(statement(nil), after: position.map(Int64.init), key: nil, receive)
        case .irregular(let index):
            var statement = statement(index)
            statement.require(SortKeyBytes.irregular)
            _ = try await read(statement, after: nil, key: nil, receive)
        case .approximate:
            // The index is exact.
            return
        case .range(let index, _, .end, _, let place):
            let position = place?.sortKey == StorageSortKey.none ? place.map { Int64($0.position) } : nil
            _ = try await readEqual(index, .none, after: position, receive)
        case .range(let index, let lower, let upper, false, let place):
            try await readAscending(index, from: lower, to: upper, after: place, receive)
        case .range(let index, let lower, var upper, true, let place):
            if let place {
                let key = try Self.key(of: place)
                if try await !readEqual(index, key, after: Int64(place.position), receive) { return }
                upper = min(upper, .before(key))
            }
            try await readDescending(index, from: lower, to: upper, receive)
        }
    }

    /// Counts items in the same snapshot.
    mutating func count(_ statement: ScanStatement) async throws -> Int {
        let commands =
            beginning + [ScanStatement.useIndexInAnyOrder, statement.count(upTo: .max), ScanStatement.useIndex]
        let answers = try await session.run(commands, patience: engine.database.options.timeout)
        try answers.requireAll(commands.count)
        beginning = []
        return Int(try answers[commands.count - 2].number(0, 0) as Int64)
    }

    /// Ends the transaction.
    mutating func finish() async throws {
        if beginning.isEmpty { _ = try await session.run(.commit, patience: engine.database.options.timeout) }
    }

    static func key(of place: StoragePlace) throws -> StorageSortKey {
        guard let key = place.sortKey else {
            throw StorageError(.invalidArgument, "A place in the order of an index needs a sort key.")
        }
        return key
    }

    // MARK: Orders

    /// Reads the items with one key in insertion order.
    ///
    /// - Returns: Whether the receiver wants more.
    private mutating func readEqual(
        _ index: StorageIndex, _ key: StorageSortKey, after position: Int64?, _ receive: Receiver
    ) async throws -> Bool {
        var statement = statement(index)
        statement.require(SortKeyBytes.bytes(of: key))
        return try await read(statement, after: position, key: key, receive)
    }

    /// Reads items in insertion order, whose keys are known.
    ///
    /// - Returns: Whether the receiver wants more.
    private mutating func read(
        _ base: ScanStatement, after position: Int64?, key: StorageSortKey?, _ receive: Receiver
    ) async throws -> Bool {
        var position = position
        var count = Self.firstBatch
        while true {
            var statement = base
            if let position { statement.require(after: position) }
            let rows = try await rows(statement.rows(.insertion, limit: count)) { _ in key }
            for row in rows where try await !receive(whole(row)) { return false }
            guard rows.count == count, let last = rows.last else { return true }
            position = Int64(last.entry.place.position)
            count = min(count * 2, Self.largestBatch)
        }
    }

    private mutating func readAscending(
        _ index: StorageIndex, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound,
        after place: StoragePlace?,
        _ receive: Receiver
    ) async throws {
        var place = place
        var count = Self.firstBatch
        while true {
            var statement = statement(index)
            if let place {
                statement.require(after: SortKeyBytes.bytes(of: try Self.key(of: place)), Int64(place.position))
            }
            statement.require(from: lower, to: upper)
            let rows = try await rows(statement.rows(.ascending, limit: count), Self.sortKey)
            for row in rows where try await !receive(whole(row)) { return }
            guard rows.count == count, let last = rows.last else { return }
            place = last.entry.place
            count = min(count * 2, Self.largestBatch)
        }
    }

    /// Reads in descending order of the keys, with equal keys in insertion order, which is no order of the index: it
    /// reads items in the order of the index, reverses those with equal keys, and reads the last of these groups, whose
    /// end it has not seen, from its start.
    private mutating func readDescending(
        _ index: StorageIndex, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, _ receive: Receiver
    ) async throws {
        var upper = upper
        var count = Self.firstBatch
        while lower < upper {
            var statement = statement(index)
            statement.require(from: lower, to: upper)
            var rows = try await rows(statement.rows(.descending, limit: count), Self.sortKey)
            let cut = rows.count < count ? nil : rows.last?.entry.place.sortKey
            if let cut { rows.removeAll { $0.entry.place.sortKey == cut } }
            for group in rows.chunked(by: { $0.entry.place.sortKey == $1.entry.place.sortKey }) {
                for row in group.reversed() where try await !receive(whole(row)) { return }
            }
            guard let cut else { return }
            if try await !readEqual(index, cut, after: nil, receive) { return }
            upper = .before(cut)
            count = min(count * 2, Self.largestBatch)
        }
    }

    // MARK: Rows

    private func statement(_ index: StorageIndex?) -> ScanStatement {
        ScanStatement(collection: engine.number, index: index)
    }

    private mutating func rows(
        _ command: Command, _ key: ((rows: QueryResult, row: Int)) throws -> StorageSortKey?
    ) async throws -> [Row] {
        let patience = engine.database.options.timeout
        let answers = try await session.run(beginning + [command], patience: patience)
        beginning = []
        guard let rows = answers.last else { throw PostgresFailure.noResult }
        return try (0..<rows.count).map { row in
            guard let bytes = rows.bytes(row, 1) else { throw PostgresFailure.noResult }
            let isLarge = rows.bytes(row, 2) == nil
            let position: Int64 = try rows.number(row, 0)
            let place = StoragePlace(sortKey: try key((rows, row)), position: Int(position))
            let data = isLarge ? Data() : try rows.data(row, 2)
            return Row(entry: StorageEntry(key: try ItemKey.key(bytes), data: data, place: place), isLarge: isLarge)
        }
    }

    private static func sortKey(_ place: (rows: QueryResult, row: Int)) throws -> StorageSortKey? {
        guard let bytes = place.rows.bytes(place.row, 3) else { throw PostgresFailure.noResult }
        return try SortKeyBytes.key(bytes)
    }

    /// The item of a row, which is read if it is large. The receiver runs in this task, which suspends now and then.
    private mutating func whole(_ row: Row) async throws -> StorageEntry {
        try await pace.count(row.entry.data)
        guard row.isLarge else { return row.entry }
        let command = Command(ItemStatements.data, engine.parameters(for: row.entry.key))
        let answer = try await session.run(command, patience: engine.database.options.timeout)
        guard answer.count == 1 else { throw PostgresFailure.noResult }
        var entry = row.entry
        entry.data = try answer.data(0, 0)
        return entry
    }
}

extension Array {
    /// The longest parts in which adjacent elements belong together.
    fileprivate func chunked(by belongTogether: (Element, Element) -> Bool) -> [ArraySlice<Element>] {
        var chunks: [ArraySlice<Element>] = []
        var start = startIndex
        for index in indices where index + 1 == endIndex || !belongTogether(self[index], self[index + 1]) {
            chunks.append(self[start...index])
            start = index + 1
        }
        return chunks
    }
}
#endif
