import BenchHarness
import Bodega
import Foundation
import GRDBSQLite
import RecordCoder

extension QueryMetrics {

    /// A page of tasks with the folder of each.
    func related(_ plan: Plan) async throws -> Outcome {
        try await withFolders(plan) { tasks, folders, table in
            let query = Query<FiledTask>(sortedBy: SortDescriptor(\.title)).including(\.folderID, from: folders)
            return try await compare(
                items: 50, runs: plan.runs * 20,
                ours: { try await timed { try await tasks.fetch(query, limit: 50) }.0 },
                baseline: {
                    let (time, rows) = try timed { try table.tasks() }
                    let ours = try await tasks.fetch(query, limit: 50).rows
                    try verify(rows.map(\.task.id), equals: ours.map(\.object.id), "the page")
                    try verify(rows.map(\.folder?.name), equals: ours.map(\.related?.name), "the folders")
                    return time
                })
        }
    }

    /// A page of folders with the tasks of each.
    func referring(_ plan: Plan) async throws -> Outcome {
        try await withFolders(plan) { tasks, folders, table in
            let query = Query<Folder>().including(\FiledTask.folderID, of: tasks)
            return try await compare(
                items: 50, runs: plan.runs * 20,
                ours: { try await timed { try await folders.fetch(query, limit: 50) }.0 },
                baseline: {
                    let (time, rows) = try timed { try table.folders() }
                    let ours = try await folders.fetch(query, limit: 50).rows
                    try verify(rows.map(\.folder.id), equals: ours.map(\.object.id), "the page")
                    try verify(rows.map { $0.tasks.map(\.id) }, equals: ours.map { $0.related.map(\.id) }, "the tasks")
                    return time
                })
        }
    }

    /// A removal of many items, of which each is named by another that goes with it: its time follows their number.
    func removingNamed(_ plan: Plan) async throws -> Outcome {
        let count = plan.size(16_000)
        func time(_ count: Int) async throws -> Duration {
            try await plan.scratch.withFolder { folder in
                let folders = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
                let notes = try folders.collection(named: "notes")
                let reference = StorageReference("folder", to: "", onRemoval: .remove)
                try await notes.references?.declareReferences([reference])
                try await notes.createIndex(StorageIndex("folder"))
                for (engine, member) in [(folders, "id"), (notes, "folder")] {
                    try await engine.write(
                        (0..<count).map { (CacheKey("\($0)"), Data(#"{"\#(member)":"f\#($0)"}"#.utf8)) })
                }
                let (time, _) = try await timed { try await folders.removeAllData() }
                try verify(try await notes.fetchCount(), equals: 0, "the notes that are left")
                return time
            }
        }
        return try await compare(
            items: count, runs: plan.runs, ours: { try await time(count) },
            baseline: { try await time(count / 4) * 4 })
    }

    private func withFolders<Result>(
        _ plan: Plan, isolation: isolated (any Actor)? = #isolation,
        _ body: (ObjectStorage<FiledTask>, ObjectStorage<Folder>, FolderTables) async throws -> Result
    ) async throws -> Result {
        try await plan.scratch.withFolder { folder in
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
            let tasks = ObjectStorage<FiledTask>(storage: engine)
            let folders = ObjectStorage<Folder>(storage: try engine.collection(named: "folders"))
            let size = plan.size(count)
            // Ten tasks in each folder.
            let folderCount = max(size / 10, 1)
            for start in stride(from: 0, to: size, by: 100_000) {
                let part = (start..<min(start + 100_000, size)).map { FiledTask($0, of: size, folders: folderCount) }
                try await tasks.store(part.map { (CacheKey("\($0.id)"), $0) })
            }
            try await folders.store((0..<folderCount).map { (CacheKey("\($0)"), Folder(id: $0, name: "Folder \($0)")) })
            try await tasks.createIndexes()
            let table = try FolderTables(folder.appendingPathComponent("data.sqlite3"))
            return try await body(tasks, folders, table)
        }
    }
}

/// A task in a folder, of about 200 bytes.
struct FiledTask: Queryable, Identifiable, Sendable {
    var id: Int
    var title: Int
    var text = String(repeating: "Find out who you are. ", count: 5)
    var folderID: Int

    static let indexes = [Index("title", \FiledTask.title), Index("folderID", \FiledTask.folderID)]

    /// The task with a number. The titles of all tasks are in another order than their numbers.
    init(_ number: Int, of count: Int, folders: Int) {
        (id, title, folderID) = (number, number &* 7_919 % count, number % folders)
    }
}

/// A folder of tasks.
struct Folder: Codable, Identifiable, Sendable {
    var id: Int
    var name: String
}

/// Hand-written SQL on the tables and indexes of the engine.
final class FolderTables {
    private let database: CDatabase
    private let begin: CStatement
    private let commit: CStatement
    private let pageOfTasks: CStatement
    private let pageOfFolders: CStatement
    private let folder: CStatement
    private let tasksOfFolder: CStatement
    private let decoder = RecordDecoder()

    init(_ file: URL) throws {
        database = try CDatabase(file)
        let folders = try Self.text(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'emporium_collection_[0-9]*'", database)
        let (title, folderID) = (try Self.expression("title", database), try Self.expression("folderID", database))
        begin = try CStatement(database, "BEGIN")
        commit = try CStatement(database, "COMMIT")
        pageOfTasks = try CStatement(database, "SELECT value FROM data ORDER BY \(title), rowid LIMIT 50")
        pageOfFolders = try CStatement(database, "SELECT value FROM \"\(folders)\" ORDER BY rowid LIMIT 50")
        folder = try CStatement(database, "SELECT value FROM \"\(folders)\" WHERE key = ?1")
        tasksOfFolder = try CStatement(database, "SELECT value FROM data WHERE \(folderID) = ?1 ORDER BY rowid")
    }

    /// The expression of an index, from its definition.
    private static func expression(_ member: String, _ database: CDatabase) throws -> String {
        let sql = try text(
            "SELECT sql FROM sqlite_master WHERE name LIKE 'emporium_index%' AND sql LIKE '%\(member)%'", database)
        guard let start = sql.range(of: "ON \"data\" (")?.upperBound else {
            throw VerificationFailure("the index has another form: \(sql)")
        }
        return String(sql[start..<sql.index(before: sql.endIndex)])
    }

    private static func text(_ query: String, _ database: CDatabase) throws -> String {
        let statement = try CStatement(database, query)
        try database.check(sqlite3_step(statement.pointer), is: SQLITE_ROW)
        return String(cString: sqlite3_column_text(statement.pointer, 0))
    }

    /// The first 50 tasks by title with their folders, at one moment.
    func tasks() throws -> [(task: FiledTask, folder: Folder?)] {
        try atOneMoment {
            try rows(of: pageOfTasks, FiledTask.self).map { task in
                try database.check(bind("\(task.folderID)", to: folder))
                return (task, try rows(of: folder, Folder.self).first)
            }
        }
    }

    /// The first 50 folders with their tasks, at one moment.
    func folders() throws -> [(folder: Folder, tasks: [FiledTask])] {
        try atOneMoment {
            try rows(of: pageOfFolders, Folder.self).map { folder in
                try database.check(sqlite3_bind_int64(tasksOfFolder.pointer, 1, Int64(folder.id)))
                return (folder, try rows(of: tasksOfFolder, FiledTask.self))
            }
        }
    }

    private func atOneMoment<Value>(_ read: () throws -> Value) throws -> Value {
        try database.check(sqlite3_step(begin.pointer), is: SQLITE_DONE)
        try database.check(sqlite3_reset(begin.pointer))
        let value = try read()
        try database.check(sqlite3_step(commit.pointer), is: SQLITE_DONE)
        try database.check(sqlite3_reset(commit.pointer))
        return value
    }

    private func bind(_ text: String, to statement: CStatement) -> Int32 {
        sqlite3_bind_text(statement.pointer, 1, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }

    private func rows<Value: Decodable>(of statement: CStatement, _ type: Value.Type) throws -> [Value] {
        var values: [Value] = []
        while sqlite3_step(statement.pointer) == SQLITE_ROW {
            let count = Int(sqlite3_column_bytes(statement.pointer, 0))
            guard let bytes = sqlite3_column_blob(statement.pointer, 0) else { continue }
            values.append(try decoder.decode(Value.self, from: Data(bytes: bytes, count: count)))
        }
        try database.check(sqlite3_reset(statement.pointer))
        return values
    }
}
