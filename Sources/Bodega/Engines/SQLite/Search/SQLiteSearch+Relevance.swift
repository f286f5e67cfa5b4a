import GRDB
import GRDBSQLite

// The order of relevance.
extension SQLiteSearch {

    /// The places of the rows that match, in the order of relevance, after the place of the search.
    func places(by relevance: StorageSearch.Relevance) throws -> SearchPlaces {
        guard relevance.ranking.found.count == pattern.phraseCount, relevance.weights.count == index.columns.count
        else {
            throw StorageError(.invalidArgument, "The numbers of the search belong to another one.")
        }
        return try withOrWithoutIndex { try $0.readPlaces(by: relevance) }
    }

    private func readPlaces(by relevance: StorageSearch.Relevance) throws -> SearchPlaces {
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
        var hits = SearchHits(phrases: phrases, columns: index.columns.count)
        try forEachHit("rowid, emporium_places(\(index.name))", matching: query) { statement in
            let row = statement.integer(at: 0) ?? 0
            if !noted.isEmpty, noted.contains(row) { return true }
            guard let bytes = sqlite3_column_blob(statement.raw, 1),
                Int(sqlite3_column_bytes(statement.raw, 1)) == hits.size
            else { throw SQLiteSearchIndex.Failure(cause: DatabaseError(resultCode: .SQLITE_CORRUPT)) }
            hits.append(row, bytes.assumingMemoryBound(to: UInt32.self))
            return true
        }
        return hits
    }
}
