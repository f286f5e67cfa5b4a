import Bodega
import Foundation
import GRDBSQLite

/// Counts what SQLite does for some statements of all connections to a file that are opened later.
final class StatementTrace: Sendable {

    enum Event {
        case rows, starts
    }

    private struct Count {
        let mask: UInt32
        let beginning: String
        var value = 0
    }

    private static let counts = Locked<[String: Count]>([:])
    private let name: String

    init(of file: URL, _ event: Event, ofStatementsBeginningWith beginning: String) {
        name = Self.name(of: file.path)
        let mask = UInt32(event == .rows ? SQLITE_TRACE_ROW : SQLITE_TRACE_STMT)
        Self.counts.withLock { $0[name] = Count(mask: mask, beginning: beginning) }
        sqlite3_auto_extension(Self.entry)
    }

    var count: Int { Self.counts.withLock { $0[name]?.value ?? 0 } }

    func reset() { Self.counts.withLock { $0[name]?.value = 0 } }

    func end() { Self.counts.withLock { $0[name] = nil } }

    /// The last parts of a path, which can have several forms.
    private static func name(of path: String) -> String { path.split(separator: "/").suffix(2).joined(separator: "/") }

    private static func name(ofFileOf connection: OpaquePointer?) -> String? {
        sqlite3_db_filename(connection, "main").map { name(of: String(cString: $0)) }
    }

    private typealias Entry = @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32

    // The declared type is without the parameters with which SQLite calls the function.
    private static let entry: @convention(c) () -> Void = {
        let begin: Entry = { connection, _, _ in
            guard let name = StatementTrace.name(ofFileOf: connection),
                let mask = StatementTrace.counts.withLock({ $0[name]?.mask })
            else { return 0 }
            return sqlite3_trace_v2(
                connection, mask,
                { _, _, pointer, _ in
                    let statement = OpaquePointer(pointer)
                    guard let sql = sqlite3_sql(statement),
                        let name = StatementTrace.name(ofFileOf: sqlite3_db_handle(statement))
                    else { return 0 }
                    let text = String(cString: sql)
                    StatementTrace.counts.withLock { counts in
                        guard let count = counts[name], text.hasPrefix(count.beginning) else { return }
                        counts[name]?.value += 1
                    }
                    return 0
                }, nil)
        }
        return unsafeBitCast(begin, to: (@convention(c) () -> Void).self)
    }()
}
