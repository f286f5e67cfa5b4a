import Bodega
import BodegaSync
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// A service that numbers its changes, as a remote database.
actor NumberedService: SyncRemote {
    private struct Version {
        var data: Data?
        var number: Int
        var batch: UUID
    }

    private var versions: [String: [CacheKey: Version]] = [:]
    private var lastNumber = 0
    /// Which batches were applied. One that was refused never is, even if a copy of it arrives later.
    private var wasApplied: [UUID: Bool] = [:]

    let maximumItems = 100
    let signalsChanges = false

    func apply(_ batch: SyncBatch) -> Bool {
        if let known = wasApplied[batch.id] { return known }
        let isCurrent = batch.changes.allSatisfy { versions[$0.collection]?[$0.key]?.data == $0.base }
        wasApplied[batch.id] = isCurrent
        guard isCurrent else { return false }
        lastNumber += 1
        for change in batch.changes {
            versions[change.collection, default: [:]][change.key] = Version(
                data: change.data, number: lastNumber, batch: batch.id)
        }
        return true
    }

    func fence(_ batch: SyncBatch) -> Bool {
        wasApplied[batch.id, default: false] = wasApplied[batch.id, default: false]
        return wasApplied[batch.id, default: false]
    }

    func pull(
        _ places: [String: StorageCursor?], needing keys: [String: [CacheKey]],
        _ receive: @escaping @concurrent @Sendable (SyncNews) async throws -> Void
    ) async throws {
        // All collections as they are now: while others receive, there can be changes.
        let (versions, number) = (versions, lastNumber)
        for (collection, cursor) in places {
            let last = cursor.flatMap { Int($0.rawValue) }
            let isNeeded = Set(keys[collection] ?? [])
            let changed = (versions[collection] ?? [:]).filter { key, version in
                version.number > last ?? 0 || isNeeded.contains(key)
            }
            try await receive(.begin(collection: collection, isWhole: last == nil))
            try await receive(
                .items(
                    changed.map { (key: $0.key, data: $0.value.data) }, collection: collection,
                    batches: Set(changed.values.map(\.batch))))
            try await receive(.end(collection: collection, cursor: StorageCursor(rawValue: "\(number)")))
        }
    }

    nonisolated func signals(of collections: [String]) -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}

extension NumberedService {
    /// All items.
    var items: [String: [CacheKey: Data]] {
        versions.mapValues { $0.compactMapValues(\.data) }.filter { !$0.value.isEmpty }
    }
}

/// The guide's remote database, with devices that use it over a network that loses requests and answers.
@Suite struct SyncServiceGuideTests {

    /// A network that loses each fourth request and each fourth answer, and delivers some requests again, later.
    private final class Network: SyncRemote {
        private struct State {
            var random: SeededGenerator
            var late: [SyncBatch] = []
            var lostRequests = 0
            var lostAnswers = 0
            var copies = 0
        }

        let service: NumberedService
        private let state: Locked<State>

        init(_ service: NumberedService, seed: UInt64) {
            self.service = service
            state = Locked(State(random: SeededGenerator(seed: seed)))
        }

        var maximumItems: Int { service.maximumItems }

        var signalsChanges: Bool { service.signalsChanges }

        /// The faults so far.
        var faults: [Int] { state.withLock { [$0.lostRequests, $0.lostAnswers, $0.copies] } }

        private func happens(_ count: WritableKeyPath<State, Int> & Sendable) -> Bool {
            state.withLock { state in
                let happens = Int.random(in: 0..<4, using: &state.random) == 0
                if happens { state[keyPath: count] += 1 }
                return happens
            }
        }

        private func call<Answer: Sendable>(_ body: () async throws -> Answer) async throws -> Answer {
            if happens(\.lostRequests) { throw StorageError(.unreachable, "The request was lost.") }
            let answer = try await body()
            if happens(\.lostAnswers) { throw StorageError(.timedOut, "The answer was lost.") }
            return answer
        }

        func apply(_ batch: SyncBatch) async throws -> Bool {
            let copies = state.withLock { state in
                defer { state.late = [] }
                return state.late
            }
            for copy in copies { _ = await service.apply(copy) }
            if happens(\.copies) { state.withLock { $0.late.append(batch) } }
            return try await call { await service.apply(batch) }
        }

        func fence(_ batch: SyncBatch) async throws -> Bool { try await call { await service.fence(batch) } }

        func pull(
            _ places: [String: StorageCursor?], needing keys: [String: [CacheKey]],
            _ receive: @escaping @Sendable (SyncNews) async throws -> Void
        ) async throws {
            try await call { try await service.pull(places, needing: keys, receive) }
        }

        func signals(of collections: [String]) -> AsyncStream<Void> { service.signals(of: collections) }
    }

    @Test func `A service applies a batch once, and none that it has refused`() async throws {
        let (service, key) = (NumberedService(), CacheKey(verbatim: "a"))
        func batch(base: String?, to text: String?) -> SyncBatch {
            SyncBatch(changes: [
                SyncBatch.Change(
                    collection: "c", key: key, base: base.map { Data($0.utf8) }, data: text.map { Data($0.utf8) })
            ])
        }
        let (first, second) = (batch(base: nil, to: "1"), batch(base: nil, to: "2"))
        #expect(await service.apply(first))
        #expect(await !service.apply(second))
        #expect(await service.apply(batch(base: "1", to: nil)))
        #expect(await service.apply(first))
        #expect(await !service.apply(second))
        let third = batch(base: nil, to: "3")
        #expect(await !service.fence(third))
        #expect(await !service.apply(third))
        #expect(await service.items == [:])
    }

    @Test(
        "Devices of a service agree, and lose nothing, over a network that loses a quarter",
        arguments: 0..<UInt64(TestSizes.serviceSyncs))
    func devices(_ number: UInt64) async throws {
        let seed = Seed.current &+ number
        if number == 0 { print("devices of a service: EMPORIUM_SEED=\(seed)") }
        let network = Network(NumberedService(), seed: seed)
        var options = SyncOptions()
        (options.maximumDelay, options.pollInterval) = (.milliseconds(2), .milliseconds(10))
        var devices: [(sync: StorageSync, collections: [SyncedStorageEngine])] = []
        for _ in 0..<3 {
            let local = MemoryStorageEngine()
            let sync = try await StorageSync(
                local: { local.collection(named: $0) }, remote: network, options: options)
            devices.append((sync, [try await sync.collection(named: "a"), try await sync.collection(named: "b")]))
        }
        let names = ["a", "b"]
        for engine in devices[0].collections {
            for item in 0..<3 {
                let object = try JSONEncoder().encode(["x": 0, "y": 0])
                try await engine.write(object, key: CacheKey(verbatim: "shared \(item)"))
            }
        }
        for device in devices { try await device.sync.settled() }
        // Each device has members and items of its own, so that the outcome is known without a look at a merge.
        var random = SeededGenerator(seed: seed)
        var members: [[[Int?]]] = Array(repeating: Array(repeating: [nil, nil, nil], count: 3), count: 2)
        var own: [CacheKey: (collection: Int, text: String)] = [:]
        for turn in 1...60 {
            let (device, collection) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<2, using: &random))
            let engine = devices[device].collections[collection]
            if Bool.random(using: &random) {
                let item = Int.random(in: 0..<3, using: &random)
                let shared = ObjectStorage<[String: Int]>(storage: engine)
                try await shared.update(forKey: CacheKey(verbatim: "shared \(item)")) { $0["\(device)"] = turn }
                members[collection][item][device] = turn
            } else if let (key, item) = own.first(where: { $0.key.rawValue.hasPrefix("own \(device)") }),
                Bool.random(using: &random)
            {
                try await devices[device].collections[item.collection].remove(key: key)
                own[key] = nil
            } else {
                let key = CacheKey(verbatim: "own \(device) \(turn)")
                try await engine.write(Data("\(turn)".utf8), key: key)
                own[key] = (collection, "\(turn)")
            }
        }
        for _ in 0..<2 { for device in devices { try await device.sync.settled() } }
        let items = await network.service.items
        for collection in 0..<2 {
            let here = items[names[collection]] ?? [:]
            for device in devices {
                let all = try await device.collections[collection].fetchAll()
                #expect(Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0.data) }) == here)
                #expect(try await device.sync.pending().isEmpty)
            }
            for item in 0..<3 {
                var expected = ["x": 0, "y": 0]
                for (device, turn) in members[collection][item].enumerated() { expected["\(device)"] = turn }
                let data = try #require(here[CacheKey(verbatim: "shared \(item)")])
                #expect(try JSONDecoder().decode([String: Int].self, from: data) == expected)
            }
            let expected = own.filter { $0.value.collection == collection }.mapValues { Data($0.text.utf8) }
            #expect(here.filter { $0.key.rawValue.hasPrefix("own") } == expected)
        }
        #expect(network.faults.allSatisfy { $0 > 0 })
    }
}
