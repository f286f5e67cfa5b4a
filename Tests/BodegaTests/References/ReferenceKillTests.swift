import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// References in a file that several processes use. The oracle is sqlite3.
@Suite("References of processes")
struct ReferenceKillTests {
    private let folder = TemporaryFolder()

    private var file: URL { folder.file("data.sqlite3") }

    /// Runs SQL with the sqlite3 module of Python, and returns its rows, with columns separated by `|`. The tables of
    /// the collections are `folders` and `notes` in it.
    private func rows(_ sql: String) async throws -> [String] {
        let script = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1], timeout=60)
            for id, name in db.execute("SELECT id, CAST(name AS TEXT) FROM emporium_collections").fetchall():
                db.execute(f"CREATE TEMP VIEW {name} AS SELECT key, CAST(value AS TEXT) AS item "
                    f"FROM main.emporium_collection_{id}")
            for row in db.execute(sys.argv[2]): print("|".join(str(value) for value in row))
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, file.path, sql]
        let output = Pipe.separate()
        process.standardOutput = output
        try process.start()
        let text = String(decoding: await process.output(output), as: UTF8.self)
        #expect(process.terminationStatus == 0)
        return text.split(separator: "\n").map(String.init)
    }

    @Test("A killed process leaves each folder with all of its notes, or neither")
    func kills() async throws {
        print("kill test of references: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let count = 700
        var (added, removed, killed) = (0, 0, 0)
        // How long a removal takes.
        var usual = Duration.milliseconds(5)
        for round in 0..<TestSizes.transactionKills {
            let child = try Child("remove-folders", file.path, "r\(round)", "\(random.next())", "\(count)")
            var lines: [String] = []
            var rest = Int.random(in: 1...4, using: &random)
            var start = ContinuousClock.now
            while rest > 0 {
                lines.append(try #require(await child.nextLine()))
                if lines.last?.hasPrefix("removing") == true {
                    start = .now
                    rest -= 1
                } else if lines.last?.hasPrefix("removed") == true {
                    usual = .now - start
                }
            }
            // At any moment of a removal.
            let end = start + usual * Double.random(in: 0..<1.2, using: &random)
            while ContinuousClock.now < end {}
            child.kill()
            lines += await child.lines()
            let stored = try await rows(
                """
                SELECT name, sum(kind = 0), sum(kind = 1) FROM (
                    SELECT json_extract(item, '$.id') AS name, 0 AS kind FROM folders
                    UNION ALL SELECT json_extract(item, '$.folder'), 1 FROM notes
                ) GROUP BY name
                """)
            #expect(stored.allSatisfy { $0.hasSuffix("|1|\(count)") }, "EMPORIUM_SEED=\(Seed.current) \(stored)")
            let names = Set(stored.compactMap { $0.split(separator: "|").first.map(String.init) })
            for words in lines.map({ $0.split(separator: " ").map(String.init) }) {
                if words[0] == "added" { added += 1 }
                if words[0] != "removed" { continue }
                removed += 1
                #expect(!names.contains(words[1]), "EMPORIUM_SEED=\(Seed.current)")
            }
            if lines.last?.hasPrefix("removing") == true { killed += 1 }
            // What was acknowledged, and not removed since, is there.
            let kept = Set(lines.filter { $0.hasPrefix("added") }.compactMap { $0.split(separator: " ").last })
                .subtracting(lines.filter { !$0.hasPrefix("added") }.compactMap { $0.split(separator: " ").last })
            #expect(names.isSuperset(of: kept.map(String.init)), "EMPORIUM_SEED=\(Seed.current)")
            #expect(try await rows("PRAGMA integrity_check") == ["ok"])
        }
        print("\(added) folders were added, \(removed) removed, \(killed) kills within a removal")
    }

    @Test("A folder with many notes is removed while another process writes")
    func manyNotes() async throws {
        let count = TestSizes.children
        let child = try Child("remove-folder", file.path, "\(count)")
        #expect(await child.nextLine() == "begun")
        let database = try SQLiteStorageEngine(openingFile: file, lockTimeout: 30)
        let folders = try database.collection(named: "folders")
        let isOver = Locked(false)
        async let writing = writes(to: folders, until: { isOver.withLock { $0 } })
        let line = try #require(await child.nextLine())
        isOver.withLock { $0 = true }
        let (writes, longest) = try await writing
        print("\(count) notes: \(line) (ms, bytes); \(writes) writes of another process, the longest took \(longest)")
        // However many notes there are: a hundred thousand of them would take some forty megabytes.
        let bytes = try #require(line.split(separator: " ").last.flatMap { Int($0) })
        #expect(bytes < 16 << 20)
        #expect(try await rows("SELECT count(*) FROM folders WHERE json_extract(item, '$.id') = 'removed'") == ["0"])
        let left = "SELECT json_extract(item, '$.folder'), count(*) FROM notes GROUP BY 1"
        #expect(try await rows(left) == ["kept|\(count)"])
        #expect(try await folders.fetchCount() == writes + 1)
    }

    private func writes(
        to folders: SQLiteStorageEngine, until isOver: @Sendable () -> Bool
    ) async throws -> (Int, Duration) {
        var (count, longest) = (0, Duration.zero)
        repeat {
            let start = ContinuousClock.now
            try await folders.write(Data("{}".utf8), key: CacheKey("other \(count)"))
            longest = max(longest, ContinuousClock.now - start)
            count += 1
        } while !isOver()
        return (count, longest)
    }

    @Test("A folder that is evicted takes its notes with it")
    func eviction() async throws {
        let database = try SQLiteStorageEngine(openingFile: file, durability: .relaxed)
        let folders = try database.collection(named: "folders").limited(count: 3)
        let notes = try database.collection(named: "notes")
        try await notes.declareReferences([StorageReference("folder", to: "folders", onRemoval: .remove)])
        for number in 0..<10 {
            try await notes.write(
                (0..<20).map { (CacheKey("\(number)-\($0)"), Data(#"{"folder":\#(number)}"#.utf8)) })
            try await folders.write(Data(#"{"id":\#(number)}"#.utf8), key: CacheKey("\(number)"))
        }
        let kept = try await rows("SELECT json_extract(item, '$.id') FROM folders ORDER BY 1")
        #expect(kept.count == 3)
        let left = "SELECT json_extract(item, '$.folder'), count(*) FROM notes GROUP BY 1 ORDER BY 1"
        #expect(try await rows(left) == kept.map { "\($0)|20" })
    }
}
