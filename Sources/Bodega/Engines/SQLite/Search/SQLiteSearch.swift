import CSQLiteConfiguration
import GRDB
import GRDBSQLite

/// A search at one moment, by an index and by the items that it does not know. If FTS5 fails, it knows none.
struct SQLiteSearch {
    let search: StorageSearch
    let index: SQLiteSearchIndex
    let pattern: SearchPattern
    private let db: Database
    private let texts: StoredTexts
    /// Whether the table of FTS5 is used.
    private var isIndexed: Bool
    /// The rows that the table of FTS5 must not be asked about.
    private(set) var noted: Set<Int> = []

    /// - Throws: ``StorageError/Code/invalidArgument`` if there is no such index.
    init(_ search: StorageSearch, of table: SQLiteTable, in db: Database) throws {
        (self.search, self.db) = (search, db)
        let usable = try SQLiteSearchIndex.all(of: table, in: db).first { $0.index == search.index }
        // It can have become one that is not used since the search was planned.
        let registered =
            try usable ?? SQLiteSearchIndex.registered(of: table, in: db).first { $0.index == search.index }
        guard let index = registered else {
            throw StorageError(.invalidArgument, "There is no index for searches in \(search.index). Create it first.")
        }
        self.index = index
        pattern = search.pattern
        texts = StoredTexts(of: search.index)
        isIndexed = usable != nil
        if !isIndexed { return }
        do {
            noted = Set(
                try SQLiteSearchIndex.reporting { try Self.rows("SELECT row FROM main.\(index.notes)", in: db) })
        } catch let failure as SQLiteSearchIndex.Failure {
            SQLiteSearchFailures.shared.report(failure, of: index, in: db)
            isIndexed = false
        }
    }

    /// Runs a closure with the index, and if FTS5 fails, again without it.
    func withOrWithoutIndex<Value>(_ body: (SQLiteSearch) throws -> Value) throws -> Value {
        do {
            return try body(self)
        } catch let failure as SQLiteSearchIndex.Failure {
            SQLiteSearchFailures.shared.report(failure, of: index, in: db)
            var other = self
            (other.isIndexed, other.noted) = (false, [])
            return try body(other)
        }
    }

    /// A row with what its texts have of the pattern.
    struct Unknown {
        var row: Int
        var counts: SearchCounts?
    }

    /// The rows after a place that FTS5 does not know, in order.
    func unknown(after start: Int = .min) throws -> [Unknown] {
        let items = "SELECT rowid, value FROM main.\(index.table.name) WHERE rowid"
        var unknown: [Unknown] = []
        // Noted rows are before the others. With both conditions in one statement, SQLite would read all rows.
        if !noted.isEmpty {
            let isNoted = "IN (SELECT row FROM main.\(index.notes) WHERE row > ?1)"
            try read("\(items) \(isNoted) ORDER BY rowid", after: start, into: &unknown)
        }
        let built = isIndexed ? try index.built(in: db) : .min
        try read("\(items) > ?1 ORDER BY rowid", after: max(built, start), into: &unknown)
        return unknown
    }

    private func read(_ sql: String, after row: Int, into unknown: inout [Unknown]) throws {
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        try statement.bind(row, at: 1)
        while try statement.step() {
            try LockHolders.shared.check()
            let counts = texts.counts(of: pattern, in: statement.data(at: 1))
            unknown.append(Unknown(row: statement.integer(at: 0) ?? 0, counts: counts))
        }
    }

    // MARK: The numbers of all items

    /// What the relevance of items depends on.
    func ranking() throws -> SearchRanking { try withOrWithoutIndex { try $0.readRanking() } }

    private func readRanking() throws -> SearchRanking {
        var ranking = SearchRanking(phrases: pattern.phraseCount)
        (ranking.count, ranking.length) = try known()
        for phrase in ranking.found.indices {
            guard let query = pattern.fts5(phrase: phrase) else { throw cannotFind }
            ranking.found[phrase] = try count(query)
        }
        for row in try unknown() { if let counts = row.counts { ranking.add(counts) } }
        return ranking
    }

    /// The number and the length of the texts that FTS5 knows, but for those of noted rows.
    private func known() throws -> (count: Int, length: Int) {
        if !isIndexed { return (0, 0) }
        // The first row of FTS5's structure: the number of rows, and the length of each column.
        let totals = "SELECT block FROM main.\(index.name)_data WHERE id = 1"
        // Damaged numbers can be of any size.
        var (count, length) = (0, 0)
        try forEachRecord(totals) { numbers in
            (count, length) = (numbers.first ?? 0, numbers.dropFirst().reduce(0, &+))
        }
        let changed = """
            SELECT sz FROM main.\(index.notes) JOIN main.\(index.name)_docsize ON id = row
            WHERE state = \(SQLiteSearchIndex.State.changed)
            """
        try forEachRecord(changed) { numbers in
            count &-= 1
            length &-= numbers.reduce(0, &+)
        }
        return (max(0, count), max(0, length))
    }

    /// Reads the numbers in records of FTS5.
    private func forEachRecord(_ sql: String, _ receive: ([Int]) -> Void) throws {
        try SQLiteSearchIndex.reporting {
            let statement = try SQLiteStatement(sql, in: db)
            defer { statement.reset() }
            while try statement.step() { receive(SQLiteVarints.numbers(in: statement.data(at: 0))) }
        }
    }

    /// The number of rows that match a query of FTS5, without noted ones.
    private func count(_ query: String) throws -> Int {
        var count = 0
        if noted.isEmpty {
            try forEachHit("count(*)", matching: query) { statement in
                count = statement.integer(at: 0) ?? 0
                return false
            }
        } else {
            try forEachKnownRow(matching: query) { _ in
                count += 1
                return true
            }
        }
        return count
    }

    /// Passes on what FTS5 finds.
    ///
    /// - Parameter receive: Returns whether it needs more.
    func forEachHit(
        _ columns: String, matching query: String, after start: Int? = nil,
        _ receive: (SQLiteStatement) throws -> Bool
    ) throws {
        if !isIndexed { return }
        let (name, condition) = (index.name, start == nil ? "" : " AND rowid > ?2")
        let sql = "SELECT \(columns) FROM main.\(name) WHERE \(name) MATCH ?1\(condition)"
        let statement = try SQLiteSearchIndex.reporting { try prepared(sql) }
        defer { statement.reset() }
        try statement.bindCopy(of: query, at: 1)
        if let start { try statement.bind(start, at: 2) }
        while try SQLiteSearchIndex.reporting({ try statement.step() }) { if try !receive(statement) { return } }
    }

    private func prepared(_ sql: String) throws -> SQLiteStatement {
        do {
            return try SQLiteStatement(sql, in: db)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // The connection may not have the function yet.
            guard let connection = db.sqliteConnection, emporium_sqlite_add_search_function(connection) == SQLITE_OK
            else { throw error }
            return try SQLiteStatement(sql, in: db)
        }
    }

    // MARK: Insertion order

    /// Passes on the rows that match, in insertion order, after the place of the search, as FTS5 finds them.
    ///
    /// - Parameter receive: Returns whether it needs more.
    func forEachRow(_ receive: (Int) throws -> Bool) throws {
        // If FTS5 fails later, the rest is read without it.
        var last = search.place?.position ?? .min
        try withOrWithoutIndex {
            try $0.forEachRow(after: last) { row in
                last = row
                return try receive(row)
            }
        }
    }

    private func forEachRow(after start: Int, _ receive: (Int) throws -> Bool) throws {
        guard let query = pattern.fts5 else { throw cannotFind }
        var others = try unknown(after: start).filter { row in
            pattern.matches { row.counts?.has($0) ?? false }
        }.map(\.row)[...]
        var needsMore = true
        try forEachKnownRow(matching: query, after: start) { row in
            while needsMore, let other = others.first, other < row {
                others.removeFirst()
                needsMore = try receive(other)
            }
            if needsMore { needsMore = try receive(row) }
            return needsMore
        }
        for other in others where needsMore { needsMore = try receive(other) }
    }

    /// The number of rows that match after the place of the search, up to a limit.
    func count(upTo limit: Int) throws -> Int {
        var count = 0
        if limit <= 0 { return 0 }
        // A place in the order of relevance is none in insertion order.
        if let relevance = search.relevance, search.place != nil {
            return try min(places(by: relevance).count, limit)
        }
        try forEachRow { _ in
            count += 1
            return count < limit
        }
        return count
    }

    /// Passes on the rows that FTS5 finds, without noted ones.
    private func forEachKnownRow(
        matching query: String, after start: Int = .min, _ receive: (Int) throws -> Bool
    ) throws {
        try forEachHit("rowid", matching: query, after: start) { statement in
            let row = statement.integer(at: 0) ?? 0
            if !noted.isEmpty, noted.contains(row) { return true }
            return try receive(row)
        }
    }

    private static func rows(_ sql: String, in db: Database) throws -> [Int] {
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        var rows: [Int] = []
        while try statement.step() { rows.append(statement.integer(at: 0) ?? 0) }
        return rows
    }

    var cannotFind: StorageError {
        StorageError(.invalidArgument, "An index for searches can't find what this expression asks for.")
    }
}
