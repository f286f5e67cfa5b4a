import BenchHarness
import Bodega
import BodegaSync
import Boutique
import Foundation

/// The cost of synchronization.
enum SyncMetrics {
    static let all = [
        // About 1.6 so far: the outbox is a second row in a second table, so 4.7 pages are logged instead of 2.2.
        Metric("sync.write.durable", baseline: "the engine alone", maximum: 1.3) { plan in
            try await plan.scratch.withFolder { try await write(plan, in: $0, .full) }
        },
        Metric("sync.write.relaxed", baseline: "the engine alone", maximum: nil) { plan in
            try await plan.scratch.withFolder { try await write(plan, in: $0, .relaxed) }
        },
        Metric("sync.catchup", baseline: "reading and applying by hand", maximum: 1.5) { plan in
            try await plan.scratch.withFolder { try await catchUp(plan, in: $0) }
        },
        // The longest turn of the main actor while a store shows what arrives.
        Metric("sync.catchup.turn", baseline: "16 ms, a frame", maximum: 1) { plan in
            try await plan.scratch.withFolder { try await turn(plan, in: $0) }
        },
        Metric("sync.first", baseline: "reading and applying by hand", maximum: 3) { plan in
            try await plan.scratch.withFolder { try await first(plan, in: $0) }
        },
        Metric("sync.upload", baseline: "the same batches by hand", maximum: nil) { plan in
            try await plan.scratch.withFolder { try await upload(plan, in: $0) }
        },
    ]

    /// A JSON object of 256 bytes.
    private static func data(_ number: Int, round: Int = 0) -> Data {
        let start = #"{"id":"\#(number)","text":"\#(round) "#
        return Data((start + String(repeating: "x", count: 254 - start.utf8.count) + "\"}").utf8)
    }

    private static func engine(
        _ folder: URL, _ name: String, _ durability: StorageDurability = .full
    ) throws -> SQLiteStorageEngine {
        try SQLiteStorageEngine(
            opening: FileManager.Directory(url: folder), databaseFilename: name, durability: durability)
    }

    private static func synced(
        _ file: SQLiteStorageEngine, with server: any StorageBackend, _ options: SyncOptions = SyncOptions()
    ) async throws -> SyncedStorageEngine {
        let sync = try await StorageSync(
            local: { try file.collection(named: $0) }, remote: { _ in server }, options: options)
        return try await sync.collection(named: "notes")
    }

    /// Single writes, one after another, without a network.
    private static func write(_ plan: Plan, in folder: URL, _ durability: StorageDurability) async throws -> Outcome {
        let count = plan.size(1_000)
        var options = SyncOptions()
        options.startsPaused = true
        let file = try engine(folder, "ours", durability)
        let ours = try await synced(file, with: MemoryStorageEngine(), options)
        let alone = try engine(folder, "alone", durability).collection(named: "notes")
        var round = 0
        func time(_ engine: any StorageBackend) async throws -> Duration {
            round += 1
            return try await timed {
                for number in 0..<count { try await engine.write(data(number), key: CacheKey("\(round) \(number)")) }
            }.time
        }
        return try await compare(
            items: count, runs: plan.runs, ours: { try await time(ours) }, baseline: { try await time(alone) })
    }

    /// Changes of others, from one database to another.
    private static func catchUp(_ plan: Plan, in folder: URL) async throws -> Outcome {
        // The log keeps 100,000 changes, of which the cursor is one.
        let count = plan.size(100_000) - 1
        let server = try engine(folder, "server").collection(named: "notes")
        let ours = try await synced(try engine(folder, "ours"), with: server)
        try await ours.sync.settled()
        let otherServer = try engine(folder, "other server").collection(named: "notes")
        let alone = try engine(folder, "alone").collection(named: "notes")
        var cursor = try await otherServer.fetchCursor()
        var round = 0
        func change(_ server: some StorageEngine) async throws {
            round += 1
            try await server.apply((0..<count).map { .write(key: CacheKey("\(round) \($0)"), data: data($0)) })
        }
        return try await compare(
            items: count, runs: plan.runs,
            ours: {
                await ours.sync.pause()
                try await change(server)
                let time = try await timed {
                    await ours.sync.resume()
                    try await ours.sync.settled()
                }.time
                try verify(try await ours.fetchCount(), equals: try await server.fetchCount(), "items")
                return time
            },
            baseline: {
                try await change(otherServer)
                let start = cursor
                let time = try await timed {
                    let request = ChangesRequest(since: start, needsItems: true)
                    let delta = try await otherServer.log?.fetchChanges(request).value
                    guard let delta else { throw StorageError(.inputOutput, "The log does not reach back.") }
                    for first in stride(from: 0, to: delta.items.count, by: 500) {
                        let part = delta.items[first..<min(first + 500, delta.items.count)]
                        try await alone.apply(part.map { .write(key: $0.key, data: $0.data) })
                    }
                    cursor = delta.cursor
                }.time
                try verify(try await alone.fetchCount(), equals: try await otherServer.fetchCount(), "items")
                return time
            })
    }

    private struct Note: Codable, Identifiable, Sendable {
        let id: String
        let text: String
    }

    @MainActor
    private static func turn(_ plan: Plan, in folder: URL) async throws -> Outcome {
        let count = plan.size(100_000) - 1
        let server = try engine(folder, "server").collection(named: "notes")
        let ours = try await synced(try engine(folder, "ours"), with: server)
        let store = try await Store<Note>(storage: ours)
        try await ours.sync.settled()
        var times: [Duration] = []
        for round in 1...plan.runs {
            await ours.sync.pause()
            try await server.apply((0..<count).map { .write(key: CacheKey("\($0)"), data: data($0, round: round)) })
            times.append(
                try await MainActorProbe.longestTurn {
                    await ours.sync.resume()
                    try await ours.sync.settled()
                    // The store follows the file.
                    while store.items.count < count || store.items.last?.text.hasPrefix("\(round) ") != true {
                        try await Task.sleep(for: .milliseconds(1))
                    }
                })
        }
        return Outcome(items: count, ours: times.percentile(0.5), baseline: .milliseconds(16))
    }

    /// All items of a database that was not synchronized before.
    private static func first(_ plan: Plan, in folder: URL) async throws -> Outcome {
        let count = plan.size(100_000)
        let server = try engine(folder, "server").collection(named: "notes")
        try await server.apply((0..<count).map { .write(key: CacheKey("\($0)"), data: data($0)) })
        var round = 0
        return try await compare(
            items: count, runs: plan.runs,
            ours: {
                round += 1
                let file = try engine(folder, "ours \(round)")
                let (time, ours) = try await timed {
                    let ours = try await synced(file, with: server)
                    try await ours.sync.settled()
                    return ours
                }
                try verify(try await ours.fetchCount(), equals: count, "items")
                return time
            },
            baseline: {
                round += 1
                let alone = try engine(folder, "alone \(round)").collection(named: "notes")
                let time = try await timed {
                    let items = try await server.fetchAll()
                    for first in stride(from: 0, to: count, by: 500) {
                        let part = items[first..<min(first + 500, count)]
                        try await alone.apply(part.map { .write(key: $0.key, data: $0.data) })
                    }
                }.time
                try verify(try await alone.fetchCount(), equals: count, "items")
                return time
            })
    }

    /// Changes that have waited for a network.
    private static func upload(_ plan: Plan, in folder: URL) async throws -> Outcome {
        let count = plan.size(10_000)
        let server = try engine(folder, "server").collection(named: "notes")
        let other = try engine(folder, "other").collection(named: "notes")
        let ours = try await synced(try engine(folder, "ours"), with: server)
        var round = 0
        return try await compare(
            items: count, runs: plan.runs,
            ours: {
                round += 1
                await ours.sync.pause()
                try await ours.apply((0..<count).map { .write(key: CacheKey("\(round) \($0)"), data: data($0)) })
                return try await timed {
                    await ours.sync.resume()
                    try await ours.sync.settled()
                }.time
            },
            baseline: {
                round += 1
                return try await timed {
                    for first in stride(from: 0, to: count, by: 128) {
                        try await other.apply(
                            (first..<min(first + 128, count)).map {
                                .write(key: CacheKey("\(round) \($0)"), data: data($0))
                            })
                    }
                }.time
            })
    }
}
