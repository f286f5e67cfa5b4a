#if Postgres
import Bodega
import Foundation

/// The entries of an index for searches that have the words of a pattern, with the places of each phrase.
///
/// The server joins the numbers of many entries to a text of bytes, because a row of a result takes several times as
/// much memory and time.
struct SearchEntries {

    private let result: QueryResult
    private let pattern: SearchPattern
    private let columns: Int

    /// - Parameter columns: The number of texts.
    init(_ result: QueryResult, _ pattern: SearchPattern, columns: Int) {
        (self.result, self.pattern, self.columns) = (result, pattern, columns)
    }

    // MARK: Statement

    /// The number of counts up to which the server counts. Of more, or of phrases whose places can overlap, Swift does.
    private static let maximumCounts = 64

    private static func isCountedByServer(_ pattern: SearchPattern, columns: Int) -> Bool {
        pattern.phraseCount * columns <= maximumCounts
            && (0..<pattern.phraseCount).allSatisfy { !pattern.canOverlap(phrase: $0) }
    }

    static func command(of pattern: SearchPattern, in table: SearchTable) -> Command {
        let columns = table.index.members.count
        var values = ["int8send(x.number)", "int8send(x.position)", "int4send(x.length)"]
        if isCountedByServer(pattern, columns: columns) {
            for phrase in 0..<pattern.phraseCount {
                let needle = pattern.stored(phrase: phrase)
                values += (0..<columns).map { "int4send(\(count(needle, in: "x.text\($0)")))" }
            }
        } else {
            values += ["int4send(octet_length(x.words))", "convert_to(x.words, 'UTF8')"]
        }
        let texts = (0..<columns).map { column in
            "\(columns > 1 ? "split_part(x.words, E'\\n', \(column + 1))" : "x.words") AS text\(column)"
        }
        // A value of the server has at most a gigabyte. Without the offset, it would divide the words for each count.
        let sql = """
            SELECT string_agg(\(values.joined(separator: " || ")), ''::bytea) FROM (
                SELECT x.number, x.position, x.length, x.words, \(texts.joined(separator: ", "))
                FROM \(table.name) AS x
                WHERE x.words::tsvector @@ \(SQLText.literal(pattern.tsquery ?? ""))::tsquery
                    AND NOT EXISTS (SELECT FROM \(table.notes) AS n WHERE n.shard = x.shard AND n.key = x.key)
                OFFSET 0) AS x
            GROUP BY x.number / 100000
            """
        return Command(Statement(sql))
    }

    /// The number of places of a phrase in a text: how much shorter it is without them.
    private static func count(_ needle: String, in text: String) -> String {
        let without = "replace(\(text), \(SQLText.literal(needle)), '')"
        return "(octet_length(\(text)) - octet_length(\(without))) / \(needle.utf8.count)"
    }

    // MARK: Result

    /// Passes on the entries that match: their number, the position of the item, and the score by relevance.
    func forEach(
        _ relevance: StorageSearch.Relevance?, _ receive: (_ entry: Int64, _ position: Int, _ score: Double?) -> Void
    ) throws {
        let isCounted = Self.isCountedByServer(pattern, columns: columns)
        let scores = relevance.map(SearchScores.init)
        let conjunction = pattern.conjunction
        let known = conjunction.flatMap { phrases in scores.map { ($0.rarities(of: phrases)) } }
        for row in 0..<result.count {
            guard let bytes = result.bytes(row, 0) else { throw PostgresFailure.noResult }
            var reader = ByteReader(bytes)
            while !reader.isAtEnd {
                let number: Int64 = try reader.next()
                let position = Int(try reader.next() as Int64)
                let length = Int(try reader.next() as Int32)
                if isCounted {
                    let counts = try reader.bytes(pattern.phraseCount * columns * MemoryLayout<Int32>.size)
                    func count(_ phrase: Int, _ column: Int) -> Int {
                        let offset = (phrase * columns + column) * MemoryLayout<Int32>.size
                        return Int(Int32(bigEndian: counts.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
                    }
                    func has(_ phrase: Int) -> Bool { (0..<columns).contains { count(phrase, $0) > 0 } }
                    guard pattern.matches(has) else { continue }
                    let score = scores.map { scores in
                        let phrases = conjunction ?? pattern.reasons(has)
                        return scores.score(
                            length: length, phrases: phrases, rarities: known ?? scores.rarities(of: phrases), count)
                    }
                    receive(number, position, score)
                } else {
                    let size = Int(try reader.next() as Int32)
                    let counts = SearchCounts(of: pattern, inStored: try reader.bytes(size))
                    guard pattern.matches(counts.has) else { continue }
                    let score = relevance.map {
                        $0.ranking.score(counts, phrases: pattern.reasons(counts.has), weights: $0.weights)
                    }
                    receive(number, position, score)
                }
            }
        }
    }
}

/// A reader of numbers in the server's order of bytes.
private struct ByteReader {
    private let buffer: UnsafeRawBufferPointer
    private var position = 0

    init(_ buffer: UnsafeRawBufferPointer) { self.buffer = buffer }

    var isAtEnd: Bool { position == buffer.count }

    mutating func next<Number: FixedWidthInteger>() throws -> Number {
        let bytes = try bytes(MemoryLayout<Number>.size)
        return Number(bigEndian: bytes.loadUnaligned(as: Number.self))
    }

    mutating func bytes(_ count: Int) throws -> UnsafeRawBufferPointer {
        guard count >= 0, buffer.count - position >= count else { throw PostgresFailure.noResult }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: buffer[position..<position + count])
    }
}
#endif
