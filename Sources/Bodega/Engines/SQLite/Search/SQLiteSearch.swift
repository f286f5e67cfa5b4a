import CSQLiteConfiguration
import GRDB
import GRDBSQLite

/// A search at one moment, by an index and by the items that it does not know.
struct SQLiteSearch {
    let search: StorageSearch
    let index: SQLiteSearchIndex
    let pattern: SearchPattern
    private let db: Database
    private let texts: StoredTexts
    /// The rows that the table of FTS5 must not be asked about.
    private let noted: Set<Int>

    /// - Throws: ``StorageError/Code/invalidArgument`` if there is no such index.
    init(_ search: StorageSearch, of table: SQLiteTable, in db: Database) throws {
        (self.search, self.db) = (search, db)
        index = try SQLiteSearchIndex.find(search.index, of: table, in: db)
        pattern = search.pattern
        texts = StoredTexts(of: search.index)
        noted = Set(try Self.rows("SELECT row FROM main.\(index.notes)", in: db))
    }

    /// A row with what its texts have of the pattern.
    private struct Unknown {
        var row: Int
        var counts: SearchCounts?
    }

    /// The rows that FTS5 does not know, in order.
    private func unknown() throws -> [Unknown] {
        let items = "SELECT rowid, value FROM main.\(index.table.name) WHERE rowid"
        var unknown: [Unknown] = []
        // Noted rows are before the others. With both conditions in one statement, SQLite would read all rows.
        if !noted.isEmpty {
            try read("\(items) IN (SELECT row FROM main.\(index.notes)) ORDER BY rowid", into: &unknown)
        }
        try read("\(items) > ?1 ORDER BY rowid", after: index.built(in: db), into: &unknown)
        return unknown
    }

    private func read(_ sql: String, after row: Int? = nil, into unknown: inout [Unknown]) throws {
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        if let row { try statement.bind(row, at: 1) }
        while try statement.step() {
            try LockHolders.shared.check()
            let counts = texts.counts(of: pattern, in: statement.data(at: 1))
            unknown.append(Unknown(row: statement.integer(at: 0) ?? 0, counts: counts))
        }
    }

    // MARK: The numbers of all items

    /// What the relevance of items depends on.
    func ranking() throws -> SearchRanking {
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
        // The first row of FTS5's structure: the number of rows, and the length of each column.
        let totals = try SQLiteStatement("SELECT block FROM main.\(index.name)_data WHERE id = 1", in: db)
        defer { totals.reset() }
        guard try totals.step() else { return (0, 0) }
        let numbers = SQLiteVarints.numbers(in: totals.data(at: 0))
        var (count, length) = (numbers.first ?? 0, numbers.dropFirst().reduce(0, +))
        let changed = try SQLiteStatement(
            """
            SELECT sz FROM main.\(index.notes) JOIN main.\(index.name)_docsize ON id = row
            WHERE state = \(SQLiteSearchIndex.State.changed)
            """, in: db)
        defer { changed.reset() }
        while try changed.step() {
            count -= 1
            length -= SQLiteVarints.numbers(in: changed.data(at: 0)).reduce(0, +)
        }
        return (count, length)
    }

    /// The number of rows that match a query of FTS5, without noted ones.
    private func count(_ query: String) throws -> Int {
        if !noted.isEmpty {
            var count = 0
            try forEachKnownRow(matching: query) { _ in
                count += 1
                return true
            }
            return count
        }
        let statement = try SQLiteStatement(
            "SELECT count(*) FROM main.\(index.name) WHERE \(index.name) MATCH ?1", in: db)
        defer { statement.reset() }
        try statement.bindCopy(of: query, at: 1)
        return try statement.step() ? statement.integer(at: 0) ?? 0 : 0
    }

    // MARK: Insertion order

    /// Passes on the rows that match, in insertion order, after the place of the search, as FTS5 finds them.
    ///
    /// - Parameter receive: Returns whether it needs more.
    func forEachRow(_ receive: (Int) throws -> Bool) throws {
        guard let query = pattern.fts5 else { throw cannotFind }
        let start = search.place?.position ?? .min
        var others = try unknown().filter { row in
            row.row > start && pattern.matches { row.counts?.has($0) ?? false }
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
        let statement = try SQLiteStatement(
            "SELECT rowid FROM main.\(index.name) WHERE \(index.name) MATCH ?1 AND rowid > ?2", in: db)
        defer { statement.reset() }
        try statement.bindCopy(of: query, at: 1)
        try statement.bind(start, at: 2)
        while try statement.step() {
            let row = statement.integer(at: 0) ?? 0
            if !noted.isEmpty, noted.contains(row) { continue }
            if try !receive(row) { return }
        }
    }

    private static func rows(_ sql: String, in db: Database) throws -> [Int] {
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        var rows: [Int] = []
        while try statement.step() { rows.append(statement.integer(at: 0) ?? 0) }
        return rows
    }

    // MARK: Relevance

    /// The places of the rows that match, in the order of relevance, after the place of the search.
    func places(by relevance: StorageSearch.Relevance) throws -> SearchPlaces {
        guard relevance.ranking.found.count == pattern.phraseCount, relevance.weights.count == index.columns.count
        else {
            throw StorageError(.invalidArgument, "The numbers of the search belong to another one.")
        }
        var places = SearchPlaces(after: search.place)
        if let phrases = pattern.conjunction {
            try addPlaces(having: phrases, SearchScores(relevance), to: &places)
        } else {
            try addPlaces(SearchScores(relevance), to: &places)
        }
        for row in try unknown() {
            guard let counts = row.counts, pattern.matches(counts.has) else { continue }
            places.add(
                row.row,
                relevance.ranking.score(counts, phrases: pattern.reasons(counts.has), weights: relevance.weights))
        }
        return places
    }

    /// Adds the rows that have all of some phrases, which FTS5 finds together.
    private func addPlaces(having phrases: [Int], _ scores: SearchScores, to places: inout SearchPlaces) throws {
        guard let query = pattern.fts5 else { throw cannotFind }
        let order = pattern.orderInFTS5
        let hits = try hits(query, phrases: order.count)
        let columns = phrases.map { order.firstIndex(of: $0) ?? 0 }
        let rarities = scores.rarities(of: phrases)
        for position in hits.rows.indices {
            let length = hits.length(at: position)
            let score = scores.score(length: length, phrases: columns, rarities: rarities) { phrase, column in
                hits.count(at: position, phrase, column)
            }
            places.add(hits.rows[position], score)
        }
    }

    /// Adds the rows that match, from those that have each phrase. FTS5 does not always know which parts of a
    /// disjunction a row has, see the decision on searches.
    private func addPlaces(_ scores: SearchScores, to places: inout SearchPlaces) throws {
        var hits: [SearchHits] = []
        for phrase in 0..<pattern.phraseCount {
            guard let query = pattern.fts5(phrase: phrase) else { throw cannotFind }
            hits.append(try self.hits(query, phrases: 1))
        }
        SearchHits.forEachRow(in: hits) { row, positions in
            let reasons = pattern.reasons { positions[$0] != nil }
            guard let first = reasons.first, let position = positions[first] else { return }
            let length = hits[first].length(at: position)
            let rarities = scores.rarities(of: reasons)
            let score = scores.score(length: length, phrases: reasons, rarities: rarities) { phrase, column in
                positions[phrase].map { hits[phrase].count(at: $0, 0, column) } ?? 0
            }
            places.add(row, score)
        }
    }

    /// The rows that match a query of FTS5, without noted ones.
    private func hits(_ query: String, phrases: Int) throws -> SearchHits {
        let statement = try placesStatement()
        defer { statement.reset() }
        try statement.bindCopy(of: query, at: 1)
        var hits = SearchHits(phrases: phrases, columns: index.columns.count)
        while try statement.step() {
            let row = statement.integer(at: 0) ?? 0
            if !noted.isEmpty, noted.contains(row) { continue }
            guard let bytes = sqlite3_column_blob(statement.raw, 1) else { continue }
            hits.append(row, bytes.assumingMemoryBound(to: UInt32.self))
        }
        return hits
    }

    private func placesStatement() throws -> SQLiteStatement {
        let name = index.name
        let sql = "SELECT rowid, emporium_places(\(name)) FROM main.\(name) WHERE \(name) MATCH ?1"
        do {
            return try SQLiteStatement(sql, in: db)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // The connection does not have the function yet.
            guard let connection = db.sqliteConnection, emporium_sqlite_add_search_function(connection) == SQLITE_OK
            else { throw error }
            return try SQLiteStatement(sql, in: db)
        }
    }

    private var cannotFind: StorageError {
        StorageError(.invalidArgument, "An index for searches can't find what this expression asks for.")
    }
}

/// The numbers in a record of FTS5.
enum SQLiteVarints {
    /// The format is that of SQLite's files: 7 bits in each byte, the highest first, and 8 in the ninth.
    static func numbers(in bytes: some Sequence<UInt8>) -> [Int] {
        var numbers: [Int] = []
        var (number, count) = (UInt64(0), 0)
        for byte in bytes {
            count += 1
            if count == 9 {
                number = number << 8 | UInt64(byte)
            } else {
                number = number << 7 | UInt64(byte & 0x7F)
                if byte & 0x80 != 0 { continue }
            }
            numbers.append(Int(truncatingIfNeeded: number))
            (number, count) = (0, 0)
        }
        return numbers
    }
}
