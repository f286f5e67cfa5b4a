import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Processes that move units between two stores on one file, and are stopped and killed.
@Suite
struct StoresProcessTests {

    @Test("Eight processes neither lose nor double units, and observe the same sum at each moment")
    func processes() async throws {
        print("processes that move units: EMPORIUM_SEED=\(Seed.current)")
        let folder = TemporaryFolder()
        let file = try await fill(folder)
        let seed = Seed.current
        let deaths = Locked(0)
        let observations = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ UInt64(number))
                    var left = TestSizes.transfers
                    while left > 0 {
                        let child = try Child(
                            "transfer-units", folder.path, "\(UInt64.random(in: 0...(.max), using: &random))", "\(left)"
                        )
                        // One half is killed, after a number of transactions.
                        let isKilled = number < 4
                        let end = isKilled ? Int.random(in: 1...(left + 5), using: &random) : .max
                        let stop = Int.random(in: 1...(left + 5), using: &random)
                        var lines: [String] = []
                        while lines.count < end, let line = await child.nextLine() {
                            lines.append(line)
                            guard lines.count == stop else { continue }
                            ProcessSignal.stop.send(to: child.processIdentifier)
                            // Others go on.
                            for _ in 0..<1_000 { await Task.yield() }
                            if isKilled, Bool.random(using: &random) { break }
                            ProcessSignal.resume.send(to: child.processIdentifier)
                        }
                        if isKilled { child.kill() }
                        lines += await child.lines()
                        let wrong = lines.filter { $0.hasPrefix("wrong") }
                        #expect(wrong == [], "EMPORIUM_SEED=\(seed)")
                        if let last = lines.last, last.hasPrefix("observed") {
                            let count = Int(last.dropFirst("observed ".count)) ?? 0
                            observations.withLock { $0 += count }
                            lines.removeLast()
                        } else {
                            #expect(isKilled)
                            deaths.withLock { $0 += 1 }
                        }
                        left -= max(lines.count - wrong.count, 1)
                    }
                }
            }
            try await group.waitForAll()
        }
        print("\(deaths.withLock { $0 }) killed, \(observations.withLock { $0 }) observations")
        #expect(observations.withLock { $0 } > 4 * TestSizes.transfers)
        #expect(try await sum(file) == UnitAccount.total)
    }

    @Test("A transaction of a killed process is stored in all of its collections, or in none")
    func kills() async throws {
        let folder = TemporaryFolder()
        let file = try await fill(folder)
        var random = SeededGenerator(seed: Seed.current)
        print("EMPORIUM_SEED=\(Seed.current)")
        for round in 0..<TestSizes.kills {
            let child = try Child("transfer-units", folder.path, "\(Seed.current &+ UInt64(round))", "100000")
            var lines: [String] = []
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                if let line = await child.nextLine() { lines.append(line) }
            }
            child.kill()
            lines += await child.lines()
            #expect(lines.filter { $0.hasPrefix("wrong") } == [], "round \(round)")
            #expect(try await sum(file) == UnitAccount.total, "round \(round)")
        }
    }

    private func fill(_ folder: TemporaryFolder) async throws -> URL {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await UnitAccount.fill(["a", "b"].map { ObjectStorage(storage: try engine.collection(named: $0)) })
        let file = engine.file
        try await engine.close()
        return file
    }

    /// The sum of all units, as Python's SQLite finds it.
    private func sum(_ file: URL) async throws -> Int? {
        let program = """
            import json, sqlite3, sys
            file = sqlite3.connect(sys.argv[1])
            assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            tables = [row[0] for row in file.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'emporium_collection_[0-9]*'")]
            assert len(tables) == 2, tables
            print(sum(json.loads(value)["units"] for table in tables
                for (value,) in file.execute(f'SELECT value FROM "{table}"')))
            """
        let (process, output) = (Process(), Pipe.separate())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", program, file.path]
        process.standardOutput = output
        try process.start()
        let printed = await process.output(output)
        return Int(String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
