import BenchHarness
import Bodega
import BodegaSync
import Foundation

/// The cost of synchronization.
enum SyncMetrics {
    static let all = [
        Metric("sync.write.durable", baseline: "the engine alone", maximum: 1.3) { plan in
            try await plan.scratch.withFolder { try await write(plan, in: $0, .full) }
        },
        Metric("sync.write.relaxed", baseline: "the engine alone", maximum: nil) { plan in
            try await plan.scratch.withFolder { try await write(plan, in: $0, .relaxed) }
        },
        Metric("sync.catchup", baseline: "reading and applying by hand", maximum: 1.5) { plan in
            try await plan.scratch.withFolder { try await catchUp(plan, in: $0) }
        },
        Metric("sync.upload", baseline: "the same batches by hand", maximum: nil) { plan in
            try await plan.scratch.withFolder { try await upload(plan, in: $0) }
        },
    ]

    /// A JSON object of 256 bytes.
    private static func data(_ number: Int) -> Data {
        let start = #"{"id":"\#(number)","text":""#
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
        let count = plan.size(100_000)
        let server = try engine(folder, "server").collection(named: "notes")
        let ours = try await synced(try engine(folder, "ours"), with: server)
        let alone = try engine(folder, "alone").collection(named: "notes")
        try await ours.sync.settled()
        var cursor = try await server.fetchCursor()
        var round = 0
        func change() async throws {
            round += 1
            try await server.apply((0..<count).map { .write(key: CacheKey("\(round) \($0)"), data: data($0)) })
        }
        return try await compare(
            items: count, runs: plan.runs,
            ours: {
                await ours.sync.pause()
                try await change()
                let time = try await timed {
                    await ours.sync.resume()
                    try await ours.sync.settled()
                }.time
                try verify(try await ours.fetchCount(), equals: try await server.fetchCount(), "items")
                return time
            },
            baseline: {
                try await change()
                let start = cursor
                return try await timed {
                    let request = ChangesRequest(since: start, needsItems: true)
                    guard let delta = try await server.log?.fetchChanges(request).value else { return }
                    for first in stride(from: 0, to: delta.items.count, by: 500) {
                        let part = delta.items[first..<min(first + 500, delta.items.count)]
                        try await alone.apply(part.map { .write(key: $0.key, data: $0.data) })
                    }
                    cursor = delta.cursor
                }.time
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
