import GRDB
import GRDBSQLite
import Testing

@testable import Bodega

/// What SQLite reports when a suspension interrupts it.
@Suite struct InterruptionTests {

    @Test("An interruption is recognized in a statement, and while a virtual table is opened")
    func interruption() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE data (key TEXT UNIQUE, value INTEGER)")
            for sql in ["SELECT count(*) FROM data", "SELECT count(*) FROM pragma_index_list('data', 'main')"] {
                let error = #expect(throws: DatabaseError.self) { try interrupted(db, sql) }
                #expect(error?.isOfSuspension == true, "\(sql): \(String(describing: error))")
                // The statement itself is valid.
                let count = try Int.fetchOne(db, sql: sql)
                #expect(count != nil)
            }
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT count(*) FROM other") }
            #expect(error?.isOfSuspension == false)
        }
    }

    /// Runs a statement of a connection that was interrupted while another statement was active.
    private func interrupted(_ db: Database, _ sql: String) throws {
        let rows = try Row.fetchCursor(db, sql: "SELECT 1 UNION ALL SELECT 2")
        _ = try rows.next()
        sqlite3_interrupt(db.sqliteConnection)
        _ = try Int.fetchOne(db, sql: sql)
    }
}
