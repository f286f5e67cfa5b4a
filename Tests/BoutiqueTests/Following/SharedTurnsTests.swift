import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Boutique

/// What observers of several stores and windows of one database see.
@MainActor
@Suite
struct SharedTurnsTests {

    private typealias Account = UnitAccount

    @Test(
        "Observers of stores and windows see all of a transaction or nothing, of any process",
        arguments: [false, true])
    func sums(_ isFile: Bool) async throws {
        let seed = Seed.current
        print("EMPORIUM_SEED=\(seed)")
        let folder = TemporaryFolder()
        let memory = MemoryStorageEngine()
        /// Engines of this process, or those of another.
        func collections(_ names: [String]) throws -> [any StorageEngine] {
            if !isFile { return names.map { memory.collection(named: $0) } }
            let file = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
            return try names.map { try file.collection(named: $0) }
        }
        let names = ["a", "b", "c"]
        let filling = try collections(names).map { ObjectStorage<Account>(storage: $0) }
        try await UnitAccount.fill(filling)
        let own = try collections(names)
        var stores: [Store<Account>] = []
        for engine in own { stores.append(try await Store<Account>(storage: engine)) }
        let windows = own.map {
            LiveQuery(Query<Account>(sortedBy: SortDescriptor(\.units)), in: ObjectStorage<Account>(storage: $0))
        }
        let watch = UnitWatch(stores, windows)
        let others = try (0..<2).map { _ in try collections(names) }
        let count = TestSizes.transfers
        var tasks: [Task<Void, any Error>] = []
        do {
            for (number, engines) in others.enumerated() {
                let storages = engines.map { ObjectStorage<Account>(storage: $0) }
                tasks.append(
                    Task.detached {
                        try await UnitAccount.move(storages, in: engines[0], count: count, seed: seed &+ UInt64(number))
                    })
            }
            tasks.append(
                Task {
                    var random = SeededGenerator(seed: seed &+ 100)
                    for _ in 0..<count {
                        let (from, to) = (Int.random(in: 0..<3, using: &random), Int.random(in: 1..<3, using: &random))
                        let units = Int.random(in: 1...9, using: &random)
                        try await stores[from].transaction(with: stores[(from + to) % 3]) { from, to in
                            try from.update(id: "0") { $0.units -= units }
                            try to.update(id: "0") { $0.units += units }
                            if from["0"] == nil { try to.update(id: "0") { $0.units -= units } }
                            if to["0"] == nil { try from.update(id: "0") { $0.units += units } }
                        }
                    }
                })
            // Single operations of the same stores, which show what others have changed.
            tasks.append(
                Task {
                    for number in 0..<count {
                        try await stores[number % 3].insert(Account(id: "other \(number % 7)", units: 0))
                    }
                })
            tasks.append(
                Task {
                    for number in 0..<(count / 10) {
                        try await stores[number % 3].reload()
                        try await windows[number % 3].reload()
                    }
                })
            for task in tasks { try await task.value }
        }
        // All have caught up when a transaction is based on the last state.
        try await stores[0].transaction(with: stores[1], stores[2]) { first, second, third in
            #expect(UnitAccount.sum(first.items + second.items + third.items) == UnitAccount.total)
        }
        #expect(watch.wrong.prefix(5) == [], "\(watch.wrong.count) of \(watch.observations)")
        #expect(watch.observations > count)
        for (store, storage) in zip(stores, filling) {
            let stored = try await storage.fetchAllObjects().objects
            #expect(store.items == stored)
        }
        for (window, storage) in zip(windows, filling) {
            try await window.reload()
            let stored = try await storage.fetchAllObjects().objects
            #expect(window.items.map(\.units) == stored.map(\.units).sorted())
        }
        #expect(watch.wrong.prefix(5) == [])
    }

    @Test("Stores that open while others move units show a consistent state from the first moment")
    func opening() async throws {
        let seed = Seed.current
        print("EMPORIUM_SEED=\(seed)")
        let folder = TemporaryFolder()
        let file = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let storages = try ["a", "b"].map { ObjectStorage<Account>(storage: try file.collection(named: $0)) }
        try await UnitAccount.fill(storages)
        let hasEnded = Locked(false)
        let moving = Task.detached {
            var round: UInt64 = 0
            while !hasEnded.withLock({ $0 }) {
                try await UnitAccount.move(storages, in: file, count: 5, seed: seed &+ round)
                round += 1
            }
        }
        for _ in 0..<TestSizes.openings {
            let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
            let left = try await Store<Account>(storage: try engine.collection(named: "a"))
            let right = try await Store<Account>(storage: try engine.collection(named: "b"))
            #expect(UnitAccount.sum(left.items) + UnitAccount.sum(right.items) == UnitAccount.total)
            let windows = try ["a", "b"].map {
                LiveQuery(Query<Account>(), in: ObjectStorage<Account>(storage: try engine.collection(named: $0)))
            }
            for window in windows { try await window.itemsHaveLoaded() }
            #expect(windows.reduce(0) { $0 + UnitAccount.sum($1.items) } == UnitAccount.total)
            #expect(UnitAccount.sum(left.items) + UnitAccount.sum(right.items) == UnitAccount.total)
        }
        hasEnded.withLock { $0 = true }
        try await moving.value
    }

    @Test("A transaction of another program that changes two tables is shown in one step, too")
    func otherProgram() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let engines = try ["a", "b"].map { try engine.collection(named: $0) }
        let storages = engines.map { ObjectStorage<Account>(storage: $0) }
        try await UnitAccount.fill(storages)
        var stores: [Store<Account>] = []
        for engine in engines { stores.append(try await Store<Account>(storage: engine)) }
        let windows = storages.map { LiveQuery(Query<Account>(), in: $0) }
        for window in windows { try await window.itemsHaveLoaded() }
        let watch = UnitWatch(stores, windows)
        let program = """
            import json, sqlite3, sys
            file = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
            tables = [row[0] for row in file.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'emporium_collection_[0-9]*'")]
            assert len(tables) == 2, tables
            for _ in range(int(sys.argv[2])):
                file.execute("BEGIN IMMEDIATE")
                for table, change in zip(tables, (-1, 1)):
                    value, = file.execute(f'SELECT value FROM "{table}" WHERE key = ?', ("1",)).fetchone()
                    account = json.loads(value)
                    account["units"] += change
                    file.execute(
                        f'UPDATE "{table}" SET value = ? WHERE key = ?', (json.dumps(account).encode(), "1"))
                file.execute("COMMIT")
            print("done")
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", program, engine.file.path, "\(TestSizes.transfers)"]
        let output = Pipe.separate()
        process.standardOutput = output
        try process.start()
        #expect(String(decoding: await process.output(output), as: UTF8.self) == "done\n")
        // It reads the last state, and so do all stores and windows.
        let units = try await stores[0].transaction(with: stores[1]) { first, second in
            // Also in an attempt that is repeated.
            #expect(UnitAccount.sum(first.items + second.items) == UnitAccount.total)
            return second["1"]?.units
        }
        #expect(units == TestSizes.transfers)
        #expect(windows[1].items.first { $0.id == "1" }?.units == TestSizes.transfers)
        #expect(watch.wrong.prefix(5) == [], "\(watch.wrong.count) of \(watch.observations)")
    }

    private struct Count: Codable, Identifiable, Equatable {
        var id: String
        var n = 0
    }

    private func stores(inFile: Bool, _ names: [String], _ folder: TemporaryFolder) async throws -> [Store<Count>] {
        let (memory, file) = (MemoryStorageEngine(), try SQLiteStorageEngine(openingFile: folder.file("a")))
        var stores: [Store<Count>] = []
        for name in names {
            let engine: any StorageEngine =
                inFile ? try file.collection(named: name) : memory.collection(named: name)
            stores.append(try await Store<Count>(storage: engine))
        }
        return stores
    }

    @Test(arguments: [false, true])
    func `A transaction comes after the operations before it, and before those after it`(inFile: Bool) async throws {
        let folder = TemporaryFolder()
        let stores = try await stores(inFile: inFile, ["a", "b", "c"], folder)
        for round in 1...20 {
            for (first, second) in [(0, 1), (1, 0), (2, 1)] {
                let (own, other) = (stores[first], stores[second])
                var (seen, last): ([Int?], Int?) = ([], nil)
                let calls: [@MainActor () async throws -> Void] = [
                    { try await own.insert(Count(id: "y", n: round)) },
                    { try await other.insert(Count(id: "x", n: round)) },
                    { try await own.insert(Count(id: "x", n: round)) },
                    {
                        seen = try await own.transaction(with: other) { own, other in
                            defer {
                                own.insert(Count(id: "x", n: 1_000 + round))
                                other.insert(Count(id: "x", n: 1_000 + round))
                            }
                            return [own["x"]?.n, other["x"]?.n]
                        }
                    },
                    { try await other.insert(Count(id: "x", n: 2_000 + round)) },
                    {
                        try await other.transaction(with: own) { _, own in
                            last = own["x"]?.n
                            own.insert(Count(id: "x", n: 3_000 + round))
                        }
                    },
                    { try await own.update(id: "x") { $0.n += 1 } },
                ]
                let tasks = calls.map { call in Task { @MainActor in try await call() } }
                for task in tasks { try await task.value }
                #expect(seen == [round, round] && last == 1_000 + round)
                #expect(own["x"]?.n == 3_001 + round)
                #expect(other["x"]?.n == 2_000 + round)
            }
        }
    }

    @Test(arguments: [false, true])
    func `Transactions that follow one another hold up no operation of any store`(inFile: Bool) async throws {
        let folder = TemporaryFolder()
        let stores = try await stores(inFile: inFile, ["a", "b", "c"], folder)
        for store in stores.prefix(2) { try await store.insert(Count(id: "x")) }
        var (count, hasEnded) = (0, false)
        let writers = (0..<3).map { _ in
            Task { @MainActor in
                while !hasEnded, count < 1_000 {
                    count += 1
                    try await stores[0].transaction(with: stores[1]) { own, other in
                        try own.update(id: "x") { $0.n += 1 }
                        try other.update(id: "x") { $0.n += 1 }
                    }
                }
            }
        }
        while count < 10 { await Task.yield() }
        for store in stores {
            try await store.insert(Count(id: "z"))
            try await store.reload()
        }
        hasEnded = true
        // Each of the operations waits for a few transactions at most.
        #expect(count < 200)
        for writer in writers { try await writer.value }
        #expect(stores[0]["x"]?.n == count && stores[1]["x"]?.n == count)
    }

    @Test func `To find out whether there are other members, few of them are asked`() throws {
        let turns = SharedTurns.of(try #require(MemoryStorageEngine().database))
        let members = (0..<1_000).map { _ in CountingMember() }
        turns.join(members[0])
        turns.join(members[0])
        #expect(!turns.hasOthers(than: members[0]))
        for member in members { turns.join(member) }
        for member in members { #expect(turns.hasOthers(than: member)) }
        #expect(members.map(\.count).reduce(0, +) <= 2_000)
    }

    @Test func `Members that are gone are no others`() throws {
        let turns = SharedTurns.of(try #require(MemoryStorageEngine().database))
        let member = CountingMember()
        turns.join(member)
        for _ in 0..<1_000 { turns.join(CountingMember()) }
        #expect(!turns.hasOthers(than: member))
    }
}

/// A member that counts how often it is asked whether it shows items.
private final class CountingMember: SharedTurnMember {
    private(set) var count = 0

    var hasLoaded: Bool {
        count += 1
        return true
    }

    func takeTurn(_ body: @escaping @MainActor () async -> Void) {}
    func readChanges() async throws -> ShownChange? { nil }
    func catchUpSoon() {}
}
