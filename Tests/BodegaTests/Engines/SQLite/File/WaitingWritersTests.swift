@testable import Bodega
import BodegaTesting
import Dispatch
import Foundation
import GRDBSQLite
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Writers that wait for locks which other connections hold, as other processes do.
@Suite("Writers that wait for locks", .serialized)
struct WaitingWritersTests {

    /// More than there are threads that may run.
    private static let files = 100
    private static let writersPerFile = 5

    private let folder = TemporaryFolder()

    /// The threads of the process, as the system lists them; on other systems those of the engines.
    private var threads: Int {
        get throws {
            if !FileManager.default.fileExists(atPath: "/proc/self/task") { return WorkerThreads.shared.count }
            return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        }
    }

    /// Begins writes that wait, reads from other engines in the meantime, and then lets the writes go on.
    ///
    /// - Parameters:
    ///   - locked: The engines whose locks are held.
    ///   - others: Engines with an item of their own.
    ///   - item: Their item.
    ///   - unlock: Releases the locks.
    private func check(
        locked: [any StorageEngine], others: [any StorageEngine], item: Data, unlock: () throws -> Void
    ) async throws {
        let before = try threads
        let (begun, ended) = (Locked(0), Locked(0))
        let writes = (0..<Self.writersPerFile).flatMap { number in
            locked.map { engine in
                Task {
                    begun.withLock { $0 += 1 }
                    defer { ended.withLock { $0 += 1 } }
                    try await engine.write(Data([UInt8(number)]), key: CacheKey("\(number)"))
                }
            }
        }
        while begun.withLock({ $0 }) < writes.count { await Task.yield() }
        for number in 0..<100 {
            #expect(try await others[number % others.count].fetchAllData() == [item])
        }
        #expect(ended.withLock { $0 } == 0)
        // One for each file, those that may run, and some of other tests.
        #expect(try threads - before < Self.files + 64 + 100)
        try unlock()
        for write in writes { try await write.value }
        for engine in locked {
            #expect(try await engine.fetchAllData().sorted { $0[0] < $1[0] } == (0..<5).map { Data([$0]) })
        }
    }

    /// Large enough that it is not read on the caller's thread.
    private static let item = Data(count: 100_000)

    private func otherFiles() async throws -> [any StorageEngine] {
        var engines: [any StorageEngine] = []
        for number in 0..<20 {
            let file = folder.file("other-\(number).sqlite3")
            let engine = try SQLiteStorageEngine(openingFile: file, durability: .relaxed)
            try await engine.write(Self.item, key: CacheKey("item"))
            engines.append(engine)
        }
        return engines
    }

    @Test("don't delay reads from other SQLite files, and are one thread a file")
    func sqlite() async throws {
        var (locked, connections): ([any StorageEngine], [OpaquePointer]) = ([], [])
        defer { for connection in connections { sqlite3_close(connection) } }
        for number in 0..<Self.files {
            let file = folder.file("locked-\(number).sqlite3")
            locked.append(try SQLiteStorageEngine(openingFile: file, durability: .relaxed, lockTimeout: 300))
            var connection: OpaquePointer?
            #expect(sqlite3_open(file.path, &connection) == SQLITE_OK)
            connections.append(try #require(connection))
            #expect(sqlite3_exec(connection, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
        }
        let others = try await otherFiles()
        try await check(locked: locked, others: others, item: Self.item) {
            for connection in connections {
                #expect(sqlite3_exec(connection, "COMMIT", nil, nil, nil) == SQLITE_OK)
            }
        }
    }

    @Test("don't delay reads from other folders")
    func disk() async throws {
        let item = Data(count: 1_000)
        var (locked, others, locks): ([any StorageEngine], [any StorageEngine], [Int32]) = ([], [], [])
        defer { for lock in locks { close(lock) } }
        for number in 0..<Self.files {
            let directory = FileManager.Directory(url: folder.file("locked-\(number)"))
            locked.append(try DiskStorageEngine(opening: directory, durability: .relaxed))
            let control = directory.url.appendingPathComponent(".emporium")
            try FileManager.default.createDirectory(at: control, withIntermediateDirectories: true)
            let lock = open(control.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            locks.append(lock)
            #expect(flock(lock, LOCK_EX) == 0)
            let other = try DiskStorageEngine(
                opening: FileManager.Directory(url: folder.file("other-\(number)")), durability: .relaxed)
            try await other.write(item, key: CacheKey("item"))
            others.append(other)
        }
        try await check(locked: locked, others: others, item: item) {
            for lock in locks { #expect(flock(lock, LOCK_UN) == 0) }
        }
    }

    @Test("don't delay reads from other files if the files can't even be opened")
    func unopened() async throws {
        var (locked, connections): ([any StorageEngine], [OpaquePointer]) = ([], [])
        defer { for connection in connections { sqlite3_close(connection) } }
        for number in 0..<Self.files {
            let file = folder.file("locked-\(number).sqlite3")
            try await SQLiteStorageEngine(openingFile: file, durability: .relaxed).close()
            var connection: OpaquePointer?
            #expect(sqlite3_open(file.path, &connection) == SQLITE_OK)
            connections.append(try #require(connection))
            let lock = "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; SELECT count(*) FROM data"
            #expect(sqlite3_exec(connection, lock, nil, nil, nil) == SQLITE_OK)
            let core = SQLiteFile(url: file, durability: .relaxed, lockTimeout: 300, SQLiteFile.Inspection())
            locked.append(SQLiteStorageEngine(core: core, table: .standard, now: { Date() }))
        }
        let others = try await otherFiles()
        try await check(locked: locked, others: others, item: Self.item) {
            for connection in connections { sqlite3_close(connection) }
            connections = []
        }
    }

    @Test("free their places for other jobs, whose threads end when the waiting is over")
    func places() async throws {
        let threads = WorkerThreads(limit: 2, maximum: 4, idleTime: 0)
        let (open, arrivals) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for _ in 0..<3 {
            threads.run {
                WorkerThreads.waiting {
                    // Nested calls count once.
                    WorkerThreads.waiting {
                        arrivals.signal()
                        open.wait()
                    }
                }
            }
        }
        // On the only thread that is left.
        try await threads.value { for _ in 0..<3 { arrivals.wait() } }
        #expect(threads.count == 4 || threads.count == 3)
        let more = Locked(0)
        for _ in 0..<5 { threads.run { more.withLock { $0 += 1 } } }
        try await waitUntil("jobs have run beside those that wait") { more.withLock { $0 } == 5 }
        for _ in 0..<3 { open.signal() }
        try await waitUntil("the threads have ended") { threads.count == 0 }
        // A wait on any other thread changes nothing.
        #expect(WorkerThreads.waiting { 1 } == 1)
    }
}
