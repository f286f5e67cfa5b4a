import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Stores that change the same data at random. All end with the stored items, and each reports every change once.
@MainActor
@Suite struct SharedStoreTests {

    /// Changes shared data through a store on each engine.
    private func run(_ engines: [any StorageEngine], seed: UInt64, rounds: Int) async throws {
        let names = Array(["A", "B", "C"].prefix(engines.count))
        var visitors: [Visitor] = []
        for (number, engine) in engines.enumerated() {
            visitors.append(
                try await Visitor(
                    names[number], on: engine, seed: seed &+ UInt64(number), removesAll: seed.isMultiple(of: 3)))
        }
        let changes = visitors.map { visitor in Task { try await visitor.change(rounds: rounds) } }
        for change in changes { try await change.value }
        for visitor in visitors { try await visitor.end() }
        for (visitor, engine) in zip(visitors, engines) {
            try await visitor.await(endsOf: names)
            let problems = try await visitor.problems(engine)
            #expect(problems.isEmpty, "EMPORIUM_SEED=\(seed): \(problems.joined(separator: "\n"))")
        }
    }

    private struct Counter: Codable, Sendable, Equatable, Identifiable {
        let id: String
        var count: Int
    }

    @Test(
        "Stores that increment the same items lose no increment",
        arguments: ["memory", "one engine", "three engines", "encrypted", "one engine for each, relaxed"])
    func counting(_ place: String) async throws {
        let folder = TemporaryFolder()
        let keyset = EncryptionKeyset()
        let memory = MemoryStorageEngine()
        let shared = try SQLiteStorageEngine(opening: folder.directory)
        let engines: [any StorageEngine] = try (0..<3).map { _ in
            switch place {
            case "memory": memory
            case "one engine": shared
            case "three engines": try SQLiteStorageEngine(opening: folder.directory)
            case "encrypted": try SQLiteStorageEngine(opening: folder.directory).encrypted(with: keyset)
            default: try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
            }
        }
        var stores: [Store<Counter>] = []
        for engine in engines { stores.append(try await Store(storage: engine)) }
        try await stores[0].insert([Counter(id: "a", count: 0), Counter(id: "b", count: 0)])
        for store in stores { try await store.reload() }
        let writers = stores.enumerated().map { number, store in
            Task {
                for round in 0..<40 {
                    let id = (number + round).isMultiple(of: 2) ? "a" : "b"
                    if round.isMultiple(of: 3) {
                        try await store.transaction { try $0.update(id: id) { $0.count += 1 } }
                    } else {
                        try await store.update(id: id) { $0.count += 1 }
                    }
                }
            }
        }
        for writer in writers { try await writer.value }
        let stored = try await engines[1].fetchAll().map { try JSONDecoder().decode(Counter.self, from: $0.data) }
        #expect(stored.map(\.count).reduce(0, +) == 120 && stored.count == 2)
        for store in stores {
            while store.items.map(\.count).reduce(0, +) < 120 { await Task.yield() }
            #expect(store.items.sorted { $0.id < $1.id } == stored.sorted { $0.id < $1.id })
        }
    }

    @Test("Stores that share an in-memory engine agree with it")
    func memory() async throws {
        print("stores that share memory: EMPORIUM_SEED=\(Seed.current)")
        for round in 0..<TestSizes.sharedStores * 2 {
            let engine = MemoryStorageEngine()
            try await run([engine, engine, engine], seed: Seed.current &+ UInt64(round), rounds: 20)
        }
    }

    @Test("Stores that share one SQLite file, through one engine or several, agree with it", arguments: [1, 3])
    func sqlite(engineCount: Int) async throws {
        print("stores that share a file: EMPORIUM_SEED=\(Seed.current)")
        for round in 0..<TestSizes.sharedStores {
            let folder = TemporaryFolder()
            let opened = try (0..<engineCount).map { _ in
                try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
            }
            let engines = (0..<3).map { opened[$0 % engineCount] }
            try await run(engines, seed: Seed.current &+ UInt64(round), rounds: 20)
        }
    }

    @Test("Stores that share one SQLite file through wrappers agree with it")
    func wrappers() async throws {
        print("stores that share a wrapped file: EMPORIUM_SEED=\(Seed.current)")
        let keyset = EncryptionKeyset()
        for round in 0..<(TestSizes.sharedStores + 1) / 2 {
            let folder = TemporaryFolder()
            let engines = try (0..<3).map { _ in
                try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
                    .prefixed("others").prefixed("notes").encrypted(with: keyset).retrying()
            }
            try await run(engines, seed: Seed.current &+ UInt64(round), rounds: 20)
        }
    }

    @Test(
        "Two processes that share one SQLite file agree with it, also if they are stopped at times",
        arguments: [false, true])
    func processes(withStalls: Bool) async throws {
        print("processes that share a file: EMPORIUM_SEED=\(Seed.current)")
        for round in 0..<(TestSizes.sharedStores + 3) / 4 {
            let folder = TemporaryFolder()
            let seed = Seed.current &+ UInt64(round)
            var children: [(child: Child, input: Pipe)] = []
            for name in ["A", "B"] {
                let input = Pipe.separate()
                let child = try Child(["visit", folder.path, name, "\(seed)", "60"], input: input)
                children.append((child, input))
            }
            func all(_ word: String) async throws {
                for (_, input) in children { try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }
                for (child, _) in children { #expect(await child.nextLine() == word) }
            }
            for (child, _) in children { #expect(await child.nextLine() == "opened") }
            let engine = try SQLiteStorageEngine(opening: folder.directory)
            let start = try await engine.fetchCursor()
            let isOver = Locked(false)
            let stalls = Task { [processes = children.map(\.child.processIdentifier)] in
                if withStalls { try await stall(processes, engine, since: start, seed: seed, until: isOver) }
            }
            try await all("changed")
            isOver.withLock { $0 = true }
            try await stalls.value
            try await all("ended")
            let changes = try #require(await engine.fetchChanges(since: start, excluding: nil)).changes
            for (child, _) in children {
                let reported = Int(await child.nextLine() ?? "") ?? 0
                let problems = await child.lines()
                #expect(problems.isEmpty, "EMPORIUM_SEED=\(seed): \(problems.joined(separator: "\n"))")
                #expect(
                    reported > 0 && reported < changes.count, "EMPORIUM_SEED=\(seed): \(reported) of \(changes.count)")
            }
        }
    }

    /// Stops processes at times while they change the data of an engine.
    private func stall(
        _ processes: [Int32],
        _ engine: SQLiteStorageEngine,
        since start: StorageCursor,
        seed: UInt64,
        until isOver: Locked<Bool>
    ) async throws {
        let steps = Locked(0)
        let counting = Task {
            var cursor = start
            while !isOver.withLock({ $0 }) {
                let delta = try #require(try await engine.fetchChanges(since: cursor, excluding: nil))
                cursor = delta.cursor
                steps.withLock { $0 += delta.changes.count }
            }
        }
        let faults = processes.map { process in Fault.stopped("one process") { [process] } }
        let both = Fault.stopped("both processes") { processes }
        try await FaultPlan(faults + [both], seed: seed, rounds: 9, length: 1...20).run(patience: .milliseconds(200)) {
            isOver.withLock { $0 } ? .max / 2 : steps.withLock { $0 }
        }
        try await counting.value
    }
}
