import Foundation
import GRDB
import Logging
import RecordCoder

extension SQLiteSearchIndex {

    /// Whether the table of FTS5 has exactly the words of the texts that it should have.
    func hasAllTexts(in db: Database) throws -> Bool {
        do {
            var (words, skipped) = try expectedWords(in: db)
            guard try skipped.count > 0 || hasLengths(words.lengths, in: db) else { return false }
            try Self.reporting {
                try db.executeDirectly(
                    "CREATE VIRTUAL TABLE temp.\(name)_words USING fts5vocab(main, \(name), instance)")
            }
            defer { dropWords(in: db) }
            try Self.reporting {
                let statement = try SQLiteStatement("SELECT doc, col, offset, term FROM temp.\(name)_words", in: db)
                defer { statement.reset() }
                while try statement.step() {
                    guard let row = statement.integer(at: 0), !skipped.contains(row) else { continue }
                    let column = columns.firstIndex(of: statement.text(at: 1)) ?? -1
                    words.remove(statement.data(at: 3), row, column, statement.integer(at: 2) ?? -1)
                }
            }
            return words.areNone
        } catch let failure as Failure {
            return !failure.isDamage
        }
    }

    /// Whether FTS5 has counted these words in these rows.
    private func hasLengths(_ lengths: [Int: [Int]], in db: Database) throws -> Bool {
        try Self.reporting {
            let sizes = try SQLiteStatement("SELECT id, sz FROM main.\(name)_docsize", in: db)
            defer { sizes.reset() }
            var count = 0
            while try sizes.step() {
                guard let row = sizes.integer(at: 0), lengths[row] == SQLiteVarints.numbers(in: sizes.data(at: 1))
                else { return false }
                count += 1
            }
            let totals = try SQLiteStatement("SELECT block FROM main.\(name)_data WHERE id = 1", in: db)
            defer { totals.reset() }
            let sums = columns.indices.map { column in lengths.values.reduce(0) { $0 + $1[column] } }
            let known = try totals.step() ? SQLiteVarints.numbers(in: totals.data(at: 0)) : []
            return count == lengths.count && (known == [count] + sums || known.isEmpty && count == 0)
        }
    }

    private func dropWords(in db: Database) {
        do {
            db.clearSchemaCache()
            try db.executeDirectly("DROP TABLE temp.\(name)_words")
        } catch {
            bodegaLogger.debug("A temporary table remains.", metadata: ["error": "\(error)"])
        }
    }

    /// The words that the table should have, and the rows whose words FTS5 reads from bytes that are not UTF-8.
    private func expectedWords(in db: Database) throws -> (Words, skipped: Set<Int>) {
        var words = Words(form: index.searchForm ?? .words)
        var skipped: Set<Int> = []
        let stored = StoredTexts(of: index)
        let items = try SQLiteStatement(
            """
            SELECT rowid, value FROM main.\(table.name)
            WHERE rowid <= ?1 AND rowid NOT IN (SELECT row FROM main.\(notes)) ORDER BY rowid
            """, in: db)
        defer { items.reset() }
        try items.bind(built(in: db), at: 1)
        while try items.step() {
            try LockHolders.shared.check()
            let (row, data) = (items.integer(at: 0) ?? 0, items.data(at: 1))
            guard data.withUnsafeBytes(isValidUTF8) else {
                skipped.insert(row)
                continue
            }
            words.add(stored.texts(of: data), row)
        }
        let changed = try SQLiteStatement(
            "SELECT row, \(columns.joined(separator: ", ")) FROM main.\(notes) WHERE state = \(State.changed)", in: db)
        defer { changed.reset() }
        while try changed.step() {
            let row = changed.integer(at: 0) ?? 0
            let places = (1...Int32(columns.count))
            if places.contains(where: changed.hasInvalidText) {
                skipped.insert(row)
            } else {
                words.add(places.map { changed.isNull(at: $0) ? nil : changed.text(at: $0) }, row)
            }
        }
        return (words, skipped)
    }

    /// The words of many texts with their places, as a sum of hashes.
    private struct Words {
        let form: SearchForm
        private var sum = 0
        private var count = 0
        /// For each row with a text, the number of words in each column.
        private(set) var lengths: [Int: [Int]] = [:]

        init(form: SearchForm) { self.form = form }

        var areNone: Bool { sum == 0 && count == 0 }

        mutating func add(_ texts: [String?], _ row: Int) {
            if texts.allSatisfy({ $0 == nil }) { return }
            lengths[row] = texts.enumerated().map { column, text in text.map { add($0, row, column) } ?? 0 }
        }

        /// - Returns: The number of words.
        private mutating func add(_ text: String, _ row: Int, _ column: Int) -> Int {
            let divided = SearchText(text, form)
            // The words of FTS5 for parts are those of three characters.
            let width = form == .words ? 1 : 3
            for first in divided.tokens.indices.dropLast(width - 1) {
                let letters = (first..<first + width).flatMap { divided.letters(of: $0) }
                sum &+= Self.hash(Data(letters), row, column, first)
                count += 1
            }
            return divided.length
        }

        mutating func remove(_ word: Data, _ row: Int, _ column: Int, _ place: Int) {
            sum &-= Self.hash(word, row, column, place)
            count -= 1
        }

        private static func hash(_ word: Data, _ row: Int, _ column: Int, _ place: Int) -> Int {
            var hasher = Hasher()
            word.withUnsafeBytes { hasher.combine(bytes: $0) }
            for number in [row, column, place] { hasher.combine(number) }
            return hasher.finalize()
        }
    }
}
