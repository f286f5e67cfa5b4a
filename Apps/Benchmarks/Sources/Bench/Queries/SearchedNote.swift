import BenchHarness
import Bodega
import BodegaTesting
import Foundation
import GRDBSQLite

/// An item of the benchmarks of searches, of about 250 bytes.
struct SearchedNote: Queryable, Sendable {
    var title: String
    var text: String

    static let searchable = [
        Searchable("title", \SearchedNote.title, weight: 2), Searchable("text", \SearchedNote.text),
    ]

    /// The note with a number. Some words are in most notes, and most words in few.
    init(_ number: Int) {
        var random = SeededGenerator(seed: UInt64(number))
        func words(_ count: Int) -> String {
            let words = (0..<count).map { _ in
                let place = Double(random.next() % 1_000_000) / 1_000_000
                return Self.word(Int(place * place * place * 20_000))
            }
            return words.joined(separator: " ")
        }
        title = words(4)
        text = words(36)
    }

    /// A word; the lower its number, the more common it is.
    static func word(_ number: Int) -> String { "w" + String(number, radix: 36) }

    static func items(_ range: Range<Int>) throws -> [(key: CacheKey, data: Data)] {
        let coder = JSONObjectCoder()
        return try range.map { (CacheKey("note-\($0)"), try coder.encode(SearchedNote($0))) }
    }
}

/// A hand-written search by FTS5, in the file of the engine.
final class SearchedTable {
    private let database: CDatabase
    private let search: CStatement

    init(_ file: URL) throws {
        database = try CDatabase(file)
        sqlite3_busy_timeout(database.connection, 60_000)
        func text(_ name: String) -> String { "json_extract(CAST(value AS TEXT), '$.\(name)')" }
        try database.execute(
            """
            CREATE VIRTUAL TABLE words
            USING fts5(title, text, content = '', tokenize = 'unicode61 remove_diacritics 2');
            INSERT INTO words (rowid, title, text) SELECT rowid, \(text("title")), \(text("text")) FROM data;
            """)
        search = try CStatement(
            database,
            """
            SELECT data.key, value FROM (
                SELECT rowid AS row, bm25(words, 2, 1) AS score FROM words WHERE words MATCH ?1 ORDER BY score LIMIT 20)
            JOIN data ON data.rowid = row ORDER BY score, row
            """)
    }

    /// The keys of the best 20 items.
    func keys(_ words: String) throws -> [String] {
        defer { sqlite3_reset(search.pointer) }
        let copying = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        try database.check(sqlite3_bind_text(search.pointer, 1, words, -1, copying))
        var keys: [String] = []
        while sqlite3_step(search.pointer) == SQLITE_ROW {
            keys.append(String(cString: sqlite3_column_text(search.pointer, 0)))
            _ = sqlite3_column_blob(search.pointer, 1)
        }
        return keys
    }
}
