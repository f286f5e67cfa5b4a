import Foundation
import GRDBSQLite
import TestSupport
import Testing

@testable import Bodega

/// The number of items that a query reports to have read. The oracle is SQLite, which reports each row of a statement.
@Suite(.serialized, .unhurriedReads, .timeLimit(.minutes(5))) struct ReadCountTests {

    @Test(arguments: [
        (limit: 5, place: 900, isSorted: true), (5, 0, true), (.max, 950, true), (.max, 990, false), (20, 0, false),
        (5, 1_000, true),
    ])
    func `A reader counts the rows that SQLite returns`(limit: Int, place: Int, isSorted: Bool) async throws {
        let folder = TemporaryFolder()
        let file = folder.file("items")
        let rows = RowTrace(of: file)
        defer { rows.end() }
        let engine = try SQLiteStorageEngine(openingFile: file, durability: .relaxed)
        try await engine.write((0..<1_000).map { (CacheKey("\($0)"), Data("{\"n\":\($0 * 7 % 1_000)}".utf8)) })
        try await engine.createIndex(StorageIndex("n", isForText: false))
        let examined = Locked(0)
        let path = MemberPath("n")
        let keys = StorageSortKeyRanges(.before(.integer(Int64(place))), .before(.text("")))
        let query = StorageQuery<CacheKey>(
            condition: .member(path: path, possible: keys, certain: keys, needsTextIndex: false),
            order: isSorted ? [QueryTerm(path: "n", isDescending: false)] : []
        ) { entry, receive in
            examined.withLock { $0 += 1 }
            let number = try JSONDecoder().decode([String: Int].self, from: entry.data)["n"] ?? 0
            guard number >= place else { return nil }
            receive(entry.key)
            return isSorted ? [.integer(Int64(number))] : []
        }
        let reader = StorageReader(engine)
        rows.reset()
        let found = try await query.page(from: reader, limit: limit, after: nil)
        #expect(found.matches.count == min(limit, 1_000 - place))
        #expect(reader.itemCount == rows.count)
        #expect(examined.withLock { $0 } == reader.itemCount)
    }
}

/// Counts the rows of items that SQLite returns to connections to a file, which are opened later.
private final class RowTrace: Sendable {
    private static let counts = Locked<[String: Int]>([:])
    private let name: String

    init(of file: URL) {
        name = Self.name(of: file.path)
        reset()
        sqlite3_auto_extension(Self.entry)
    }

    var count: Int { Self.counts.withLock { $0[name] ?? 0 } }

    func reset() { Self.counts.withLock { $0[name] = 0 } }

    func end() { _ = sqlite3_cancel_auto_extension(Self.entry) }

    /// The last parts of a path, which can have several forms.
    private static func name(of path: String) -> String { path.split(separator: "/").suffix(2).joined(separator: "/") }

    private typealias Entry = @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32

    // The declared type is without the parameters with which SQLite calls the function.
    private static let entry: @convention(c) () -> Void = {
        let begin: Entry = { connection, _, _ in
            sqlite3_trace_v2(
                connection, UInt32(SQLITE_TRACE_ROW),
                { _, _, row, _ in
                    let statement = OpaquePointer(row)
                    guard let sql = sqlite3_sql(statement), String(cString: sql).hasPrefix("SELECT key, kind, value"),
                        let path = sqlite3_db_filename(sqlite3_db_handle(statement), "main")
                    else { return 0 }
                    let name = RowTrace.name(of: String(cString: path))
                    RowTrace.counts.withLock { counts in
                        if let count = counts[name] { counts[name] = count + 1 }
                    }
                    return 0
                }, nil)
        }
        return unsafeBitCast(begin, to: (@convention(c) () -> Void).self)
    }()
}
