import Bodega
import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

/// Tests with another process that uses all kinds of storage, and whose locks this one looks at.
@Suite struct SuspensionProcessTests {

    @Test("A suspended process holds no lock, and loses and repeats nothing")
    func suspend() async throws {
        let folder = TemporaryFolder()
        print("suspensions: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let child = try SuspendedChild(folder)
        #expect(await child.nextLine() == "ready")
        // The test would otherwise pass if it could not see locks.
        let busy = try child.locks()
        #expect(!busy.isEmpty)
        var times: [Int] = []
        for _ in 0..<TestSizes.suspensions {
            times.append(try await child.suspend(after: .random(in: 0...60, using: &random)))
            let locks = try child.locks()
            #expect(locks == [])
            // A failure is repeated in each following round.
            if !locks.isEmpty { break }
            child.write("resume")
        }
        child.end()
        let report = await child.lines()
        times.sort()
        print(
            "time to the release of all locks, in microseconds: median \(times[times.count / 2]), 99 % "
                + "\(times[times.count * 99 / 100]), longest \(times.last ?? 0)")
        let stored = try Self.verify(folder)
        #expect(report == ["followed \(stored.items)", "accounts \(stored.accounts)"])
    }

    @Test("A blocking write that has returned is stored, at whichever moment a suspension begins")
    func blockingWrites() async throws {
        let folder = TemporaryFolder()
        let lines = try await Child("suspend-letters", folder.path, "\(TestSizes.suspensions * 5)").lines()
        #expect(lines == ["saved true"])
    }

    @Test("Each rule of suspensions holds in a process")
    func rules() async throws {
        let folder = TemporaryFolder()
        let child = try Child(["suspension-rules", folder.path], environment: ["XDG_DATA_HOME": folder.path + "/data"])
        let lines = await child.lines()
        #expect(
            lines == [
                "repeated true true",
                "blocking suspended suspended suspended suspended suspended suspended",
                "blocking later 2",
                "waiting CancellationError CancellationError true true true [\"\(CacheKey("a").value)\"]",
                "moment true 2",
                "closed true closed closed",
                "replaced placeRemoved false true",
                "foreign-small true 2 2",
                "foreign-log true 2 2",
                "uses false (true, true) false true true",
                "withdrawn 50 false",
                "long 20000 20000",
                "locked true 2",
                "locked-folder true 2",
                "released true",
            ])
    }

    @Test("A process that is killed while it is suspended has lost nothing")
    func kill() async throws {
        let folder = TemporaryFolder()
        var random = SeededGenerator(seed: Seed.current)
        for _ in 0..<TestSizes.storeKills {
            let child = try SuspendedChild(folder)
            #expect(await child.nextLine() == "ready")
            _ = try await child.suspend(after: .random(in: 0...60, using: &random))
            let locks = try child.locks()
            #expect(locks == [])
            child.kill()
            _ = await child.lines()
            _ = try Self.verify(folder)
        }
    }

    /// Compares what is stored, as SQLite and the file system see it, with what was acknowledged.
    private static func verify(_ folder: TemporaryFolder) throws -> (items: Int, accounts: Int) {
        var expected: [String: Set<String>] = [:]
        var counter = 0
        let lines = try String(contentsOf: folder.file("acknowledged"), encoding: .utf8).split(separator: "\n")
        for line in lines {
            let parts = line.split(separator: " ").map(String.init)
            switch parts[0] {
            case "removed": expected["sqlite"]?.remove(parts[1])
            case "removed-disk": expected["disk"]?.remove(parts[1])
            case "counter": counter = try #require(Int(parts[1]))
            default: expected[parts[0], default: []].insert(parts[1])
            }
        }
        func keys(_ file: String, _ sql: String) throws -> [String] {
            let queue = try DatabaseQueue(path: folder.file(file).path)
            return try queue.read { db in
                let damage = try String.fetchAll(db, sql: "PRAGMA integrity_check")
                #expect(damage == ["ok"])
                return try String.fetchAll(db, sql: sql)
            }
        }
        // The engine writes nothing else than what was attempted, so a surplus is what was not acknowledged.
        let items = try keys("sqlite/data.sqlite3", "SELECT key FROM data")
        #expect(expected["sqlite", default: []].subtracting(items) == [])
        let accounts = try keys("store/data.sqlite3", "SELECT key FROM data")
        #expect(expected["account", default: []].subtracting(accounts) == [])
        let number = try keys("small/data.sqlite3", "SELECT value FROM data").first.flatMap(Int.init) ?? 0
        // The last one may not have been acknowledged.
        #expect(number == counter || number == counter + 1)
        if let saved = expected["letter"] {
            // The first letter creates the table.
            let letters = try keys("letters/CodableStoreKit.sqlite3", "SELECT key FROM emporium_collection_1")
            #expect(saved.subtracting(letters) == [])
        }
        // A file is named after its key.
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.file("disk").path)
        #expect(Set(expected["disk", default: []].map { CacheKey($0).value }).subtracting(files) == [])
        return (items.count, accounts.count)
    }
}

/// A process that runs the task `suspend`.
private final class SuspendedChild: Sendable {
    private let child: Child
    private let input = Pipe.separate()
    private let folder: TemporaryFolder

    init(_ folder: TemporaryFolder) throws {
        self.folder = folder
        child = try Child(["suspend", folder.path], input: input)
    }

    func nextLine() async -> String? { await child.nextLine() }

    func lines() async -> [String] { await child.lines() }

    func write(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

    func end() { input.fileHandleForWriting.closeFile() }

    func kill() { child.kill() }

    func locks() throws -> [String] { try LockObserver.locks(in: folder.url, of: child.processIdentifier) }

    /// Suspends the process's storage.
    ///
    /// - Returns: The microseconds that it took.
    func suspend(after operations: Int) async throws -> Int {
        write("\(operations)")
        let line = await nextLine() ?? ""
        return try #require(Int(line), "\(line)")
    }
}
