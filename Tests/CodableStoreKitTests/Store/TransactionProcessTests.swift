import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Transactions of several processes and threads, checked with the `sqlite3` module of Python.
@Suite struct TransactionProcessTests {

    private let folder = TemporaryFolder()
    private var stores: UnitStores { UnitStores(.sqlite(in: folder.directory)) }

    /// What is in the file, as Python reads it.
    private struct Contents: Decodable {
        /// The units in purses and chests.
        let sum: Int
        let chests: Int
        /// The sum of what the receipts say.
        let moved: Int
        let receipts: [String]
        let integrity: String
    }

    private func contents() async throws -> Contents {
        let script = """
            import json, sqlite3, sys
            db = sqlite3.connect(sys.argv[1])
            db.execute("BEGIN")
            tables = {name.split("/")[-1]: "emporium_collection_%d" % id
                for id, name in db.execute("SELECT id, name FROM emporium_collections")}
            def objects(name):
                if name not in tables: return []
                return [json.loads(value) for (value,) in db.execute("SELECT value FROM " + tables[name])]
            units = {name: sum(o["units"] for o in objects(name)) for name in ["Purses", "Chests", "Receipts"]}
            print(json.dumps({
                "sum": units["Purses"] + units["Chests"], "chests": units["Chests"], "moved": units["Receipts"],
                "receipts": [o["id"] for o in objects("Receipts")],
                "integrity": db.execute("PRAGMA integrity_check").fetchone()[0]}))
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, folder.file("CodableStoreKit.sqlite3").path]
        let output = Pipe.separate()
        process.standardOutput = output
        try process.start()
        return try JSONDecoder().decode(Contents.self, from: await process.output(output))
    }

    @Test("After a kill, each transaction is stored completely or not at all, and acknowledged ones are")
    func kills() async throws {
        print("kill test of transactions: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        try stores.purses.save(Purse(id: "0", units: 100))
        var known: Set<String> = []
        for round in 0..<TestSizes.transactionKills {
            // In every other round, the file has logs.
            let subscription = round.isMultiple(of: 2) ? nil : stores.chests.observeCollection { _ in }
            let child = try Child("move-units", folder.path, "r\(round)", "\(random.next())", "0")
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                known.insert(try #require(await child.nextLine()))
            }
            child.kill()
            known.formUnion(await child.lines())
            subscription?.unsubscribe()
            let contents = try await contents()
            #expect(contents.integrity == "ok" && contents.sum == 100)
            #expect(contents.chests == contents.moved)
            #expect(known.subtracting(contents.receipts) == [], "EMPORIUM_SEED=\(Seed.current)")
            #expect(try stores.purses.transaction { try stores.sum() } == 100)
        }
    }

    @Test("Two processes and several threads move units, and each transaction finds the right sum")
    func moving() async throws {
        print("units moved by processes: EMPORIUM_SEED=\(Seed.current)")
        try stores.purses.save(Purse(id: "0", units: 100))
        let children = try ["a", "b"].map {
            try Child("move-units", self.folder.path, $0, "\(Seed.current)", "150")
        }
        let folder = self.folder
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<3 {
                group.addTask {
                    try await Self.onThread {
                        var random = SeededGenerator(seed: Seed.current &+ UInt64(thread))
                        // One store for all threads would do, too.
                        let stores = UnitStores(.sqlite(in: folder.directory))
                        for number in 0..<100 {
                            let sum = try stores.move(
                                Int.random(in: -5...5, using: &random), purse: "\(number % 3)",
                                chest: "\(number % 2)", receipt: "t\(thread)-\(number)")
                            #expect(sum == 100)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for child in children {
            let lines = await child.lines()
            #expect(lines.count == 151 && lines.last == "done")
        }
        let contents = try await contents()
        #expect(contents.sum == 100 && contents.chests == contents.moved)
        #expect(Set(contents.receipts).count == 600 && contents.integrity == "ok")
    }

    @Test("A suspension ends a transaction, which changes nothing, and waits for no more than that")
    func suspension() async throws {
        let rounds = 10
        let lines = try await Child("suspend-transactions", folder.path, "\(rounds)").lines()
        #expect(lines == Array(repeating: "1 suspended", count: rounds) + ["1 0"])
    }

    private static func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }
}
