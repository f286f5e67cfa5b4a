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
    private let fields: StorageFields
    /// The commands that begin the transaction, until they are sent with the first batch.
    private(set) var beginning: [Command]
    private let firstBatch: Int
    private var pace = ScanPace()
    /// Whether a search has read many items that its index should have.
    private(set) var isSearchBehind = false

    private static let largestBatch = 1_024

    private struct Row {
        var item: StorageItem
        /// Whether the item's data is yet to be read.
        let isLarge: Bool
        /// The sort keys of the members in whose order the items are.
        let keys: [[UInt8]]
    }

    /// Receives an item, and returns whether the scan goes on.
    typealias Receiver = (StorageItem) throws -> Bool

    init(_ engine: PostgresStorageEngine, _ session: Session, _ fields: StorageFields) {
        self.init(engine, session, fields, beginning: [session.beginSnapshot, ScanStatement.useIndex], firstBatch: 64)
    }

    /// Creates a reader in a transaction that may have begun.
    ///
    /// - Parameters:
    ///   - beginning: The commands to send with the first batch, if there is one.
    ///   - firstBatch: The number of items in the first batch.
    init(
        _ engine: PostgresStorageEngine, _ session: Session, _ fields: StorageFields, beginning: [Command],
        firstBatch: Int
    ) {
        self.engine = engine
        self.session = session
        self.fields = fields
        self.beginning = beginning
        self.firstBatch = firstBatch
    }

    /// Passes on the items of a scan, see `StorageBackend.scan(_:_:)`.
    mutating func run(_ scan: StorageScan, _ receive: @escaping Receiver) async throws {
        switch scan {
        case .all(let position):
            let statement = try ScanStatement(collection: engine.number, index: nil)
            _ = try await read(statement, after: position.map(Int64.init), key: nil, receive)
        case .irregular(let index):
            let part = Part(index: index, equal: [SortKeyBytes.irregular])
            try await readAscending(part, from: nil, after: nil) { item in
                var item = item
                (item.sortKey, item.sortKeys) = (nil, [])
                return try receive(item)
            }
        case .search(let search): try await self.search(search, receive)
        case .approximate:
            // The index is exact.
            return
        case .range(let index, let equal, let lower, var upper, let isDescending, let place):
            let part = Part(index: index, equal: equal.map(SortKeyBytes.bytes))
            let receive = index.others.isEmpty ? receive : Self.addingKeys(equal, receive)
            if !part.isOfLastMember {
                guard place == nil else { throw Self.hasNoPlaces }
                return try await readGroups(part, from: lower, to: upper, isDescending, receive)
            }
            if upper == .end {
                let position = place?.sortKey == StorageSortKey.none ? place.map { Int64($0.position) } : nil
                _ = try await readEqual(part, .none, after: position, receive)
            } else if !isDescending {
                try await readAscending(part, from: (lower, upper), after: place, receive)
            } else {
                if let place {
                    let key = try Self.key(of: place)
                    if try await !readEqual(part, key, after: Int64(place.position), receive) { return }
                    upper = min(upper, .before(key))
                }
                try await readDescending(part, from: lower, to: upper, receive)
            }
        }
    }

    /// A receiver of items whose first sort keys are known.
    private static func addingKeys(_ equal: [StorageSortKey], _ receive: @escaping Receiver) -> Receiver {
        { item in
            var item = item
            if item.sortKeys.isEmpty, let key = item.sortKey { item.sortKeys = [key] }
            item.sortKeys = equal + item.sortKeys
            item.sortKey = item.sortKeys.dropFirst(equal.count).first
            return try receive(item)
        }
    }

    /// The items with some sort keys of the first members of an index.
    private struct Part {
        let index: StorageIndex
        let equal: [[UInt8]]

        /// Whether items with equal keys of the next member are in insertion order in the index.
        var isOfLastMember: Bool { equal.count == index.others.count }
    }

    private static let hasNoPlaces = StorageError(
        .invalidArgument, "A range of a compound index has places only if it is of the last member.")

    /// Counts items in the same snapshot, at most a limit.
    mutating func count(_ scan: StorageScan, upTo limit: Int) async throws -> Int {
        if case .search(let search) = scan { return try await count(search) }
        guard let statement = try ScanStatement(scan, ofCollection: engine.number) else { return 0 }
        let count = statement.count(upTo: limit)
        let settings = ScanStatement.settings(forCountingUpTo: limit)
        let commands = beginning + [settings, count, ScanStatement.useIndex]
        let answers = try await session.run(commands)
        beginning = []
        return Int(try answers[commands.count - 2].number(0, 0) as Int64)
    }

    /// Ends the transaction.
    mutating func finish() async throws {
        if beginning.isEmpty { _ = try await session.run(session.endSnapshot) }
    }

    static func key(of place: StoragePlace) throws -> StorageSortKey {
        guard let key = place.sortKey else {
            throw StorageError(.invalidArgument, "A place in the order of an index needs a sort key.")
        }
        return key
    }

    // MARK: Orders

    /// Reads batches, until there are no more items or the receiver wants no more.
    ///
    /// - Parameters:
    ///   - key: The sort key of all items in insertion order.
    ///   - statement: Returns the statement of the items after the last one of the batch before.
    /// - Returns: Whether the receiver wants more.
    private mutating func read(
        _ order: ScanStatement.Order, key: StorageSortKey? = nil, _ receive: Receiver,
        _ statement: (_ last: Row?) throws -> ScanStatement
    ) async throws -> Bool {
        var last: Row?
        var count = firstBatch
        while true {
            let rows = try await rows(statement(last), order, limit: count, key: key)
            for row in rows where try await !receive(whole(row)) { return false }
            guard rows.count == count, let end = rows.last else { return true }
            last = end
            count = min(count * 2, Self.largestBatch)
        }
    }

    /// Reads the items with one key in insertion order.
    ///
    /// - Returns: Whether the receiver wants more.
    private mutating func readEqual(
        _ part: Part, _ key: StorageSortKey, after position: Int64?, _ receive: Receiver
    ) async throws -> Bool {
        var statement = try statement(part)
        statement.require(SortKeyBytes.bytes(of: key))
        return try await read(statement, after: position, key: key, receive)
    }

    /// Reads items in insertion order, whose keys are known.
    ///
    /// - Returns: Whether the receiver wants more.
    private mutating func read(
        _ base: ScanStatement, after position: Int64?, key: StorageSortKey?, _ receive: Receiver
    ) async throws -> Bool {
        try await read(.insertion, key: key, receive) { last in
            var statement = base
            if let position = last.map({ Int64($0.item.position) }) ?? position { statement.require(after: position) }
            return statement
        }
    }

    /// - Parameter bounds: The bounds of the next member's keys, `nil` for all.
    private mutating func readAscending(
        _ part: Part, from bounds: (lower: StorageSortKeyBound, upper: StorageSortKeyBound)?,
        after place: StoragePlace?, _ receive: Receiver
    ) async throws {
        let base = try statement(part)
        _ = try await read(.ascending, receive) { last in
            var statement = base
            if let last {
                statement.require(after: last.keys, Int64(last.item.position))
            } else if let place {
                statement.require(after: [SortKeyBytes.bytes(of: try Self.key(of: place))], Int64(place.position))
            }
            if let bounds { statement.require(from: bounds.lower, to: bounds.upper) }
            return statement
        }
    }

    /// Reads in descending order of the keys, with equal keys in insertion order, which is no order of the index: it
    /// reads items in the order of the index, reverses those with equal keys, and reads the last of these groups, whose
    /// end it has not seen, from its start.
    private mutating func readDescending(
        _ part: Part, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, _ receive: Receiver
    ) async throws {
        var upper = upper
        var count = firstBatch
        while lower < upper {
            var statement = try statement(part)
            statement.require(from: lower, to: upper)
            var rows = try await rows(statement, .descending, limit: count)
            let cut = rows.count < count ? nil : rows.last?.item.sortKey
            if let cut { rows.removeAll { $0.item.sortKey == cut } }
            for group in rows.chunked(by: { $0.item.sortKey == $1.item.sortKey }) {
                for row in group.reversed() where try await !receive(whole(row)) { return }
            }
            guard let cut else { return }
            if try await !readEqual(part, cut, after: nil, receive) { return }
            upper = .before(cut)
            count = min(count * 2, Self.largestBatch)
        }
    }

    /// Reads in the order of the keys of a member that is not the last one, and of items with equal keys in any order.
    private mutating func readGroups(
        _ part: Part, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, _ isDescending: Bool,
        _ receive: @escaping Receiver
    ) async throws {
        if upper == .end {
            let none = Part(index: part.index, equal: part.equal + [SortKeyBytes.none])
            return try await readAscending(none, from: nil, after: nil, Self.addingKeys([.none], receive))
        }
        if !isDescending { return try await readAscending(part, from: (lower, upper), after: nil, receive) }
        let base = try statement(part)
        _ = try await read(.descending, receive) { last in
            var statement = base
            if let last { statement.require(before: last.keys, Int64(last.item.position)) }
            statement.require(from: lower, to: upper)
            return statement
        }
    }

    // MARK: Searches

    /// Begins the transaction, and finds what a search matches.
    private mutating func find(_ search: StorageSearch) async throws -> SearchScan {
        let scan = try await SearchScan(search, ofCollection: engine.number, session, beginning: beginning)
        beginning = []
        return scan
    }

    private mutating func search(_ search: StorageSearch, _ receive: Receiver) async throws {
        let scan = try await find(search)
        let places = try await scan.places()
        isSearchBehind = isSearchBehind || places.isBehind
        var (next, count) = (0, firstBatch)
        while next < places.found.count {
            let part = places.found[next..<min(next + count, places.found.count)]
            for item in try await scan.items(part, fields) {
                let row = Row(item: item.item, isLarge: item.isLarge, keys: [])
                if try await !receive(whole(row)) { return }
            }
            next += part.count
            count = min(count * 2, Self.largestBatch)
        }
    }

    private mutating func count(_ search: StorageSearch) async throws -> Int {
        let scan = try await find(search)
        let places = try await scan.places()
        isSearchBehind = isSearchBehind || places.isBehind
        return places.found.count
    }

    /// Reads what the relevance of items depends on.
    mutating func ranking(of search: StorageSearch) async throws -> SearchRanking {
        let scan = try await find(search)
        return try await scan.ranking()
    }

    // MARK: Rows

    private func statement(_ part: Part) throws -> ScanStatement {
        try ScanStatement(collection: engine.number, index: part.index, equal: part.equal)
    }

    /// Reads the next rows, and begins the transaction before the first ones.
    ///
    /// - Parameter key: The sort key of all items in insertion order.
    private mutating func rows(
        _ statement: ScanStatement, _ order: ScanStatement.Order, limit: Int, key: StorageSortKey? = nil
    ) async throws -> [Row] {
        let answers = try await session.run(beginning + [statement.rows(order, fields, limit: limit)])
        beginning = []
        guard let rows = answers.last else { throw PostgresFailure.noResult }
        return try (0..<rows.count).map { row in
            guard let bytes = rows.bytes(row, 1) else { throw PostgresFailure.noResult }
            var item = StorageItem(key: try ItemKey.key(bytes), position: Int(try rows.number(row, 0) as Int64))
            var (column, isLarge) = (2, false)
            if fields.contains(.data) {
                isLarge = rows.bytes(row, column) == nil
                if !isLarge { item.data = try rows.data(row, column) }
                column += 1
            }
            if fields.contains(.dates) {
                item.dates = try rows.dates(row, column)
                column += 2
            }
            var keys: [[UInt8]] = []
            if order == .insertion {
                item.sortKey = key
            } else {
                for number in 0..<statement.keyCount {
                    guard let bytes = rows.bytes(row, column + number) else { throw PostgresFailure.noResult }
                    keys.append(Array(bytes))
                    guard let key = try SortKeyBytes.key(bytes) else { continue }
                    if number == 0 { item.sortKey = key }
                    if statement.keyCount > 1 { item.sortKeys.append(key) }
                }
            }
            return Row(item: item, isLarge: isLarge, keys: keys)
        }
    }

    /// The item of a row, which is read if it is large. The receiver runs in this task, which suspends now and then.
    private mutating func whole(_ row: Row) async throws -> StorageItem {
        try await pace.count(row.item.data)
        guard row.isLarge else { return row.item }
        let command = Command(ItemStatements.data, engine.parameters(for: row.item.key))
        let answer = try await session.run(command)
        guard answer.count == 1 else { throw PostgresFailure.noResult }
        var item = row.item
        item.data = try answer.data(0, 0)
        return item
    }
}
#endif
