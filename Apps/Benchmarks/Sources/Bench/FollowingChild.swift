import BenchHarness
import Bodega
import Dispatch
import Foundation

#if Postgres
import BodegaPostgres
#endif

/// A child process that follows the changes of a store and reports when it receives each of them.
final class FollowingChild {
    private let child: LineChild

    /// Starts this program as a child that follows a store, and waits until it does.
    init(_ address: String) throws {
        child = try LineChild(["--child-follows", address], firstLine: "following")
    }

    /// The time at which the child received a change, which must be its next one.
    func moment(of key: CacheKey) throws -> UInt64 {
        let line = try child.nextLine()
        let parts = line.split(separator: " ")
        guard parts.count == 2, parts[0] == key.rawValue, let moment = UInt64(parts[1]) else {
            throw VerificationFailure("the child received \(line) instead of \(key.rawValue)")
        }
        return moment
    }

    /// Ends the child.
    func end() { child.end() }

    // MARK: In the child

    /// The current time on the clock that all processes of the machine share, in nanoseconds.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// The child's work, until the process is ended.
    static func follow(_ address: String) async throws {
        let engine = try await openObservable(address)
        let cursor = try await engine.fetchCursor()
        LineChild.say("following")
        for try await update in engine.changes(since: cursor) {
            let now = now
            guard case .changes(let delta) = update else {
                throw VerificationFailure("a snapshot came instead of changes")
            }
            for change in delta.changes { LineChild.say("\(change.key.rawValue) \(now)") }
        }
    }

    /// Opens an engine that has a change feed.
    static func openObservable(_ address: String) async throws -> any StorageBackend {
        let engine = try await open(StorageAddress(parsing: address)).backend
        if engine.log == nil { throw VerificationFailure("the engine has no change feed") }
        return engine
    }

    private static func open(_ address: StorageAddress) async throws -> any StorageEngine {
        #if Postgres
        if address.engine == .postgres { return try await PostgresStorageEngine(address) }
        #endif
        return try address.open()
    }
}
