import BenchHarness
import Bodega
import BodegaTesting
import Foundation
import GRDBSQLite
import RecordCoder

/// An item of the query's benchmarks, of about 200 bytes.
struct QueriedTask: Queryable, Sendable {
    var id: String
    var title: String
    var text: String
    var isDone: Bool
    var dueDate: Date
    var priority: Int

    static let indexes = [Index("dueDate", \QueriedTask.dueDate)]

    /// The task with a number. The due dates of all tasks are in random order.
    init(_ number: Int) {
        var random = SeededGenerator(seed: UInt64(number))
        id = "task-\(number)"
        title = "Task number \(random.next() % 100_000)"
        text = String(repeating: "Find out who you are. ", count: 4)
        isDone = random.next() % 8 == 0
        dueDate = Date(timeIntervalSinceReferenceDate: Double(random.next() % 1_000_000_000_000) / 1000)
        priority = Int(random.next() % 5)
    }

    var key: CacheKey { CacheKey(id) }

    /// Creates a database of tasks, with an index.
    static func prepare(_ count: Int, in folder: URL) async throws -> ObjectStorage<QueriedTask> {
        let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
        let storage = ObjectStorage<QueriedTask>(storage: engine)
        for start in stride(from: 0, to: count, by: 100_000) {
            let tasks = (start..<min(start + 100_000, count)).map(QueriedTask.init)
            try await storage.store(tasks.map { ($0.key, $0) })
        }
        try await storage.createIndexes()
        return storage
    }
}

/// Hand-written SQL with the index of the engine.
final class QueriedTable {
    private let database: CDatabase
    private let page: CStatement
    private let counting: CStatement
    private let decoder = RecordDecoder()

    init(_ file: URL) throws {
        database = try CDatabase(file)
        let expression = try Self.expression(in: database)
        page = try CStatement(
            database, "SELECT value FROM data WHERE \(expression) >= ?1 ORDER BY \(expression), rowid LIMIT 50")
        counting = try CStatement(
            database, "SELECT count(*) FROM data WHERE \(expression) >= -9e999 AND \(expression) < ?1")
    }

    /// The expression of the index, from its definition.
    private static func expression(in database: CDatabase) throws -> String {
        let statement = try CStatement(database, "SELECT sql FROM sqlite_master WHERE name LIKE 'emporium_index%'")
        try database.check(sqlite3_step(statement.pointer), is: SQLITE_ROW)
        let sql = String(cString: sqlite3_column_text(statement.pointer, 0))
        guard let start = sql.range(of: "ON \"data\" (")?.upperBound else {
            throw VerificationFailure("the index has another form: \(sql)")
        }
        return String(sql[start..<sql.index(before: sql.endIndex)])
    }

    /// The first 50 tasks that are not due before a date.
    func tasks(from date: Date) throws -> [QueriedTask] {
        try database.check(sqlite3_bind_double(page.pointer, 1, date.timeIntervalSinceReferenceDate))
        var tasks: [QueriedTask] = []
        while sqlite3_step(page.pointer) == SQLITE_ROW {
            let count = Int(sqlite3_column_bytes(page.pointer, 0))
            guard let bytes = sqlite3_column_blob(page.pointer, 0) else { continue }
            tasks.append(try decoder.decode(QueriedTask.self, from: Data(bytes: bytes, count: count)))
        }
        try database.check(sqlite3_reset(page.pointer))
        return tasks
    }

    /// The number of tasks that are due before a date.
    func count(before date: Date) throws -> Int {
        try database.check(sqlite3_bind_double(counting.pointer, 1, date.timeIntervalSinceReferenceDate))
        try database.check(sqlite3_step(counting.pointer), is: SQLITE_ROW)
        defer { sqlite3_reset(counting.pointer) }
        return Int(sqlite3_column_int64(counting.pointer, 0))
    }
}
