import BenchHarness
import Foundation
import GRDBSQLite

/// A database as Bodega 2 uses it: an actor with the same statements, prepared for each call, on the same table, in a
/// file with a rollback journal. Dates are texts of a `DateFormatter`.
///
/// Bodega 2 itself takes longer, because it also composes these statements in Swift.
actor ReferenceDatabase {
    nonisolated(unsafe) private let connection: OpaquePointer

    /// Opens or creates the file `data.sqlite3`, and its folder and table if they are missing.
    init(in folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_URI
        let path = folder.appendingPathComponent("data.sqlite3").path
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw VerificationFailure("cannot open \(path): SQLite code \(code)")
        }
        connection = opened
        try Self.run(
            """
            CREATE TABLE IF NOT EXISTS "data" (
                "key" TEXT PRIMARY KEY NOT NULL, "value" BLOB NOT NULL,
                "createdAt" TEXT NOT NULL DEFAULT ('\(Self.now)'),
                "updatedAt" TEXT NOT NULL DEFAULT ('\(Self.now)')
            )
            """,
            on: opened
        )
    }

    private static var now: String { formatter.string(from: Date()) }

    private static let formatter: DateFormatter = {
        let formatter = DateFormatter()
        formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ss.SSS"
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        return formatter
    }()

    deinit {
        sqlite3_close_v2(connection)
    }

    /// Reads the value of a key.
    func read(key: String) throws -> Data? {
        try query(#"SELECT "key", "value" FROM "data" WHERE ("key" = ?) LIMIT 1"#, [key]) { row in
            Self.data(row, 1)
        }.first
    }

    /// Reads all values: first the keys, then the value of each.
    func readAll() throws -> [Data] {
        let keys = try query(#"SELECT "key" FROM "data""#) { row in String(cString: sqlite3_column_text(row, 0)) }
        let places = keys.map { _ in "?" }.joined(separator: ", ")
        let sql = #"SELECT "value" FROM "data" WHERE ("key" IN (\#(places))) LIMIT \#(keys.count)"#
        return try query(sql, keys) { row in Self.data(row, 0) }
    }

    /// Writes an item in a transaction of its own.
    func write(_ data: Data, key: String) throws {
        let sql = #"INSERT OR REPLACE INTO "data" ("key", "value", "updatedAt") VALUES (?, ?, ?)"#
        _ = try query(sql, [key, data, Self.now]) { _ in }
    }

    private func query<Value>(
        _ sql: String, _ arguments: [any Sendable] = [], _ value: (OpaquePointer) -> Value
    ) throws -> [Value] {
        try Self.run(sql, on: connection, arguments, value)
    }

    @discardableResult
    private static func run<Value>(
        _ sql: String, on connection: OpaquePointer, _ arguments: [any Sendable] = [],
        _ value: (OpaquePointer) -> Value = { _ in }
    ) throws -> [Value] {
        func check(_ code: CInt) throws {
            if code == SQLITE_OK { return }
            throw VerificationFailure("SQLite code \(code): \(String(cString: sqlite3_errmsg(connection)))")
        }
        var prepared: OpaquePointer?
        try check(sqlite3_prepare_v2(connection, sql, -1, &prepared, nil))
        guard let statement = prepared else { throw VerificationFailure("no statement: \(sql)") }
        defer { sqlite3_finalize(statement) }
        // SQLite copies the values.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, argument) in zip(1..., arguments) {
            if let data = argument as? Data {
                try data.withUnsafeBytes { bytes in
                    let count = CInt(bytes.count)
                    try check(sqlite3_bind_blob(statement, CInt(index), bytes.baseAddress, count, transient))
                }
            } else if let text = argument as? String {
                try check(sqlite3_bind_text(statement, CInt(index), text, -1, transient))
            }
        }
        var values: [Value] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: values.append(value(statement))
            case SQLITE_DONE: return values
            case let code: try check(code)
            }
        }
    }

    private static func data(_ row: OpaquePointer, _ column: CInt) -> Data {
        guard let bytes = sqlite3_column_blob(row, column) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(row, column)))
    }
}
