import Bodega
import BodegaTesting
import Foundation
import Observation
import TestSupport
import Testing

@testable import Boutique

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// What observers of several stores and windows of one database see.
@MainActor
@Suite(.timeLimit(.minutes(10)))
struct SharedTurnsTests {

    struct Account: Codable, Sendable, Equatable, Queryable, Identifiable {
        var id: String
        var units: Int
        static let indexes = [Index("units", \Account.units)]
    }

    private static let total = 1_000
    private nonisolated static let keys = (0..<5).map { CacheKey("\($0)") }

    /// Compares the sum of all accounts, at each observation, with the total that never changes.
    @MainActor
    private final class Watch {
        var observations = 0
        private(set) var wrong: [String] = []
        private let sums: [(name: String, sum: @MainActor () -> Int?)]
        private var subscriptions: [AnyCancellable] = []

        init(_ sums: [(name: String, sum: @MainActor () -> Int?)]) { self.sums = sums }

        func check() {
            observations += 1
            for (name, sum) in sums {
                if let found = sum(), found != total { wrong.append("\(name): \(found)") }
            }
        }

        func observe(_ store: Store<Account>) {
            subscriptions.append(store.$items.sink { [weak self] _ in self?.check() })
            subscriptions.append(store.objectWillChange.sink { [weak self] _ in self?.check() })
            track { _ = store.items }
        }

        func observe(_ window: LiveQuery<Account>) {
            subscriptions.append(window.$items.sink { [weak self] _ in self?.check() })
            subscriptions.append(window.objectWillChange.sink { [weak self] _ in self?.check() })
            track { _ = window.items }
        }

        private func track(_ read: @escaping @MainActor () -> Void) {
            withObservationTracking(read) { [weak self] in
                MainActor.assumeIsolated { self?.check() }
                Task { @MainActor in
                    self?.check()
                    self?.track(read)
                }
            }
        }
    }

    private static func sum(_ accounts: [Account]) -> Int { accounts.reduce(0) { $0 + $1.units } }

    @MainActor
    private static func watch(_ stores: [Store<Account>], _ windows: [LiveQuery<Account>]) -> Watch {
        let watch = Watch([
            ("stores", { stores.reduce(0) { $0 + sum($1.items) } }),
            (
                "windows",
                {
                    windows.allSatisfy(\.state.isLoaded) && !windows.isEmpty
                        ? windows.reduce(0) { $0 + sum($1.items) } : nil
                }
            ),
        ])
        for store in stores { watch.observe(store) }
        for window in windows { watch.observe(window) }
        return watch
    }

    /// Moves units between collections at random, like another process.
    private nonisolated static func move(
        _ storages: [ObjectStorage<Account>], in database: any StorageEngine, count: Int, seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<count {
            let (from, to) = (
                Int.random(in: 0..<storages.count, using: &random), Int.random(in: 0..<storages.count, using: &random)
            )
            let (key, other) = (keys.randomElement(using: &random)!, keys.randomElement(using: &random)!)
            let units = Int.random(in: 1...9, using: &random)
            let removes = Int.random(in: 0..<4, using: &random) == 0
            try await database.transaction { transaction in
                guard var account = try await transaction.object(forKey: key, in: storages[from]) else { return }
                account.units -= units
                try transaction.store(account, forKey: key, in: storages[from])
                var target =
                    try await transaction.object(forKey: other, in: storages[to])
                    ?? Account(id: other.rawValue, units: 0)
                target.units += units
                if removes, target.units == 0 {
                    try transaction.removeObject(forKey: other, in: storages[to])
                } else {
                    try transaction.store(target, forKey: other, in: storages[to])
                }
            }
        }
    }

    @Test(
        "Observers of stores and windows see all of a transaction or nothing, whoever carries it out",
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
        for (number, storage) in filling.enumerated() {
            for key in Self.keys {
                try await storage.store(Account(id: key.rawValue, units: number == 0 ? 200 : 0), forKey: key)
            }
        }
        let own = try collections(names)
        var stores: [Store<Account>] = []
        for engine in own { stores.append(try await Store<Account>(storage: engine)) }
        let windows = own.map {
            LiveQuery(Query<Account>(sortedBy: SortDescriptor(\.units)), in: ObjectStorage<Account>(storage: $0))
        }
        let watch = Self.watch(stores, windows)
        let others = try (0..<2).map { _ in try collections(names) }
        let count = TestSizes.transfers
        var tasks: [Task<Void, any Error>] = []
        do {
            for (number, engines) in others.enumerated() {
                let storages = engines.map { ObjectStorage<Account>(storage: $0) }
                tasks.append(
                    Task.detached {
                        try await Self.move(storages, in: engines[0], count: count, seed: seed &+ UInt64(number))
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
            #expect(Self.sum(first.items + second.items + third.items) == Self.total)
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
        for key in Self.keys { try await storages[0].store(Account(id: key.rawValue, units: 200), forKey: key) }
        let hasEnded = Locked(false)
        let moving = Task.detached {
            var round: UInt64 = 0
            while !hasEnded.withLock({ $0 }) {
                try await Self.move(storages, in: file, count: 5, seed: seed &+ round)
                round += 1
            }
        }
        for _ in 0..<TestSizes.openings {
            let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
            let left = try await Store<Account>(storage: try engine.collection(named: "a"))
            let right = try await Store<Account>(storage: try engine.collection(named: "b"))
            #expect(Self.sum(left.items) + Self.sum(right.items) == Self.total)
            let windows = try ["a", "b"].map {
                LiveQuery(Query<Account>(), in: ObjectStorage<Account>(storage: try engine.collection(named: $0)))
            }
            for window in windows { try await window.itemsHaveLoaded() }
            #expect(windows.reduce(0) { $0 + Self.sum($1.items) } == Self.total)
            #expect(Self.sum(left.items) + Self.sum(right.items) == Self.total)
        }
        hasEnded.withLock { $0 = true }
        try await moving.value
    }
}
