#if Postgres
import Bodega
import Foundation

/// A search in a transaction with one snapshot: by the entries of an index, and by the noted items themselves.
///
/// The server finds the entries with all words, and counts the places of each phrase in them. Swift decides by these
/// numbers which match, as it does by the texts of noted items.
struct SearchScan {

    private let search: StorageSearch
    private let table: SearchTable
    private let session: Session
    private let pattern: SearchPattern

    /// An item that matches.
    struct Place {
        let position: Int
        let score: Double?
        fileprivate let source: Source
    }

    fileprivate enum Source {
        /// The number of an entry.
        case entry(Int64)
        case item(ItemPlace)
    }

    /// - Parameter beginning: The commands that begin the transaction; none if it has begun.
    /// - Throws: ``/Bodega/StorageError/Code/invalidArgument`` if there is no such index.
    init(
        _ search: StorageSearch, ofCollection collection: Int32, _ session: Session, beginning: [Command]
    ) async throws {
        (self.search, self.session, pattern) = (search, session, search.pattern)
        let table = SearchTable(index: search.index, collection: collection)
        self.table = table
        let usable = Command(Statement(SearchTable.usable(ofCollection: collection)))
        let answers = try await session.run(beginning + [usable])
        guard let rows = answers.last, search.index.searchForm != nil,
            try SearchTable.indexes(rows, ofCollection: collection).contains(search.index)
        else {
            throw StorageError(.invalidArgument, "There is no index for searches in \(search.index).")
        }
        guard pattern.tsquery != nil, search.isServedByIndex else {
            throw StorageError(.invalidArgument, "An index for searches can't find what this expression asks for.")
        }
    }

    private static func isNotNoted(in notes: String) -> String {
        "NOT EXISTS (SELECT FROM \(notes) AS n WHERE n.shard = x.shard AND n.key = x.key)"
    }

    // MARK: The numbers of all items

    func ranking() async throws -> SearchRanking {
        var ranking = SearchRanking(phrases: pattern.phraseCount)
        let totals = """
            SELECT s.count - noted.count, s.length - noted.length FROM \(table.state) AS s, (
                SELECT count(*) AS count, coalesce(sum(x.length), 0)::bigint AS length
                FROM (SELECT DISTINCT shard, key FROM \(table.notes)) AS n, LATERAL (
                    SELECT length FROM \(table.name) AS x WHERE x.shard = n.shard AND x.key = n.key OFFSET 0) AS x
                ) AS noted
            """
        let counts = (0..<pattern.phraseCount).map { phrase in
            let isFound =
                pattern.isOneWord(phrase: phrase)
                ? "" : " AND strpos(x.words, \(SQLText.literal(pattern.stored(phrase: phrase)))) > 0"
            return """
                SELECT count(*) FROM \(table.name) AS x
                WHERE x.words::tsvector @@ \(Self.literal(pattern.tsquery(phrase: phrase)))\(isFound)
                    AND \(Self.isNotNoted(in: table.notes))
                """
        }
        let commands = ([totals] + counts).map { Command(Statement($0)) }
        let (answers, noted) = try await run(commands)
        ranking.count = Int(try answers[0].number(0, 0) as Int64)
        ranking.length = Int(try answers[0].number(0, 1) as Int64)
        for (phrase, answer) in answers.dropFirst().enumerated() {
            ranking.found[phrase] = Int(try answer.number(0, 0) as Int64)
        }
        try await forEachNoted(noted) { _, _, counts in if let counts { ranking.add(counts) } }
        return ranking
    }

    private static func literal(_ query: String) -> String { SQLText.literal(query) + "::tsquery" }

    // MARK: Noted items

    /// Runs commands that read entries, and begins to read the noted items.
    private func run(_ commands: [Command]) async throws -> (answers: [QueryResult], noted: QueryResult) {
        let cursor = """
            DECLARE emporium_noted NO SCROLL CURSOR FOR
            SELECT i.shard, i.key, i.position, CASE WHEN octet_length(i.data) <= 32768 THEN i.data END
            FROM (SELECT DISTINCT shard, key FROM \(table.notes)) AS n, \(table.item(of: "n"))
            """
        let all =
            [ScanStatement.findWords] + commands + [Command(Statement(cursor)), Self.fetch, ScanStatement.useIndex]
        let answers = try await session.run(all)
        return (Array(answers[1...commands.count]), answers[commands.count + 2])
    }

    private static let fetchSize = 256
    private static let fetch = Command(Statement("FETCH \(fetchSize) FROM emporium_noted"))

    /// Passes on the noted items that exist, with what their texts have of the pattern.
    private func forEachNoted(
        _ first: QueryResult, _ receive: (ItemPlace, _ position: Int, SearchCounts?) throws -> Void
    ) async throws {
        let texts = StoredTexts(of: search.index)
        var rows = first
        while true {
            for row in 0..<rows.count {
                guard let key = rows.bytes(row, 1) else { throw PostgresFailure.noResult }
                let place = ItemPlace(shard: try rows.number(row, 0), key: Array(key))
                let data: Data
                if rows.bytes(row, 3) != nil {
                    data = try rows.data(row, 3)
                } else {
                    let command = Command(ItemStatements.data, place.shard, table.collection, place.key)
                    data = try await session.run(command).data(0, 0)
                }
                try receive(place, Int(try rows.number(row, 2) as Int64), texts.counts(of: pattern, in: data))
            }
            if rows.count < Self.fetchSize { break }
            rows = try await session.run(Self.fetch)
        }
        _ = try await session.run(Command(Statement("CLOSE emporium_noted")))
    }

    // MARK: Matches

    /// The items that match, in the order of the search, after its place, and whether many items are noted that could
    /// have an entry.
    func places() async throws -> (found: [Place], isBehind: Bool) {
        if let relevance = search.relevance {
            guard relevance.ranking.found.count == pattern.phraseCount,
                relevance.weights.count == search.index.members.count
            else { throw StorageError(.invalidArgument, "The numbers of the search belong to another one.") }
        }
        var places: [Place] = []
        let pending = """
            SELECT count(*) = \(SearchUpdates.minimumCount) FROM (
                SELECT FROM \(table.notes) WHERE NOT kept LIMIT \(SearchUpdates.minimumCount)) AS pending
            """
        let entries = SearchEntries.command(of: pattern, in: table)
        let (answers, noted) = try await run([entries, Command(Statement(pending))])
        try SearchEntries(answers[0], pattern, columns: search.index.members.count).forEach(search.relevance) {
            places.append(Place(position: $1, score: $2, source: .entry($0)))
        }
        try await forEachNoted(noted) { place, position, counts in
            guard let counts, pattern.matches(counts.has) else { return }
            let score = search.relevance.map {
                $0.ranking.score(counts, phrases: pattern.reasons(counts.has), weights: $0.weights)
            }
            places.append(Place(position: position, score: score, source: .item(place)))
        }
        if let start = search.place {
            let end = Place(position: start.position, score: try Self.score(of: start), source: .entry(0))
            places.removeAll { !Self.isBefore(end, $0) }
        }
        places.sort(by: Self.isBefore)
        return (places, try answers[1].flag(0, 0))
    }

    private static func isBefore(_ left: Place, _ right: Place) -> Bool {
        if let leftScore = left.score, let rightScore = right.score, leftScore != rightScore {
            return leftScore > rightScore
        }
        return left.position < right.position
    }

    private static func score(of place: StoragePlace) throws -> Double? {
        switch place.sortKey {
        case .integer(let integer)?: return Double(integer)
        case .real(let real)?: return real
        case nil: return nil
        case .text?, StorageSortKey.none?:
            throw StorageError(.invalidArgument, "The place is not one in the order of relevance.")
        }
    }

    // MARK: Items

    /// Reads some of the places' items, in their order. The data of large ones is yet to be read.
    func items(
        _ places: ArraySlice<Place>, _ fields: StorageFields
    ) async throws -> [(item: StorageItem, isLarge: Bool)] {
        var (entries, entryPlaces): ([Int64], [Int]) = ([], [])
        var (noted, notedPlaces): ([ItemPlace], [Int]) = ([], [])
        for (index, place) in places.enumerated() {
            switch place.source {
            case .entry(let number):
                entries.append(number)
                entryPlaces.append(index)
            case .item(let place):
                noted.append(place)
                notedPlaces.append(index)
            }
        }
        var columns = ["u.place", "coalesce(i.long_key, i.key)"]
        if fields.contains(.data) { columns.append("CASE WHEN octet_length(i.data) <= 32768 THEN i.data END") }
        if fields.contains(.dates) { columns += ["i.created_at", "i.updated_at"] }
        let selection = "SELECT \(columns.joined(separator: ", "))"
        let ofEntries = """
            \(selection) FROM unnest($1::bigint[]) WITH ORDINALITY AS u (number, place),
                LATERAL (SELECT * FROM \(table.name) AS x WHERE x.number = u.number OFFSET 0) AS x,
                \(table.item(of: "x"))
            """
        let ofNoted = """
            \(selection) FROM unnest($1::smallint[], $2::bytea[]) WITH ORDINALITY AS u (shard, key, place),
                \(table.item(of: "u"))
            """
        let keys = Parameters(BinaryArray(noted.lazy.map(\.shard)), BinaryArray(noted.lazy.map(\.key)))
        let answers = try await session.run([
            Command(Statement(ofEntries), BinaryArray(entries)), Command(Statement(ofNoted), keys),
        ])
        var items: [(item: StorageItem, isLarge: Bool)?] = places.map { _ in nil }
        for (rows, indices) in zip(answers, [entryPlaces, notedPlaces]) {
            for row in 0..<rows.count {
                let index = indices[Int(try rows.number(row, 0) as Int64) - 1]
                items[index] = try item(at: places[places.startIndex + index], rows, row, fields)
            }
        }
        return items.compactMap { $0 }
    }

    private func item(
        at place: Place, _ rows: QueryResult, _ row: Int, _ fields: StorageFields
    ) throws -> (item: StorageItem, isLarge: Bool) {
        guard let key = rows.bytes(row, 1) else { throw PostgresFailure.noResult }
        var item = StorageItem(key: try ItemKey.key(key), position: place.position)
        item.sortKey = place.score.map(StorageSortKey.init)
        var (column, isLarge) = (2, false)
        if fields.contains(.data) {
            isLarge = rows.bytes(row, column) == nil
            if !isLarge { item.data = try rows.data(row, column) }
            column += 1
        }
        if fields.contains(.dates) { item.dates = try rows.dates(row, column) }
        return (item, isLarge)
    }
}

extension ScanStatement {
    /// Makes the rest of a transaction find words by their index, also without statistics, and group without sorting.
    static let findWords = Command(
        Statement(
            """
            SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'on', true),
                set_config('enable_nestloop', 'off', true), set_config('enable_sort', 'off', true),
                set_config('jit', 'off', true)
            """))
}
#endif
