import BenchHarness
import Bodega
import Foundation

extension ServerMetrics {
    static let requests = [
        Metric("server.read.p99", baseline: "Hummingbird, the same bytes from memory", maximum: 2) {
            try await reading($0, 0.99)
        },
        Metric("server.read.p50", baseline: "Hummingbird, the same bytes from memory", maximum: nil) {
            try await reading($0, 0.5)
        },
        Metric("server.write", baseline: "64 tasks on the engine, in process", maximum: 2) { try await writing($0) },
        Metric("server.memory", baseline: "the memory after a tenth of the requests", maximum: 1.05) {
            try await memory($0)
        },
    ]

    private static let itemCount = 10_000

    /// A time that a part of all reads do not exceed.
    private static func reading(_ plan: Plan, _ part: Double) async throws -> Outcome {
        let items = plan.size(itemCount)
        let count = plan.size(50_000)
        return try await withServer(plan, items: items) { ours, _ in
            try await withServer(plan, items: items, .bare) { bare, _ in
                let token = try ours.token()
                let exchanges = (0..<items).map { number in
                    HTTPLoad.Exchange(
                        "GET", path(number), token: token, expecting: 200, ServedNotes.data(number))
                }
                func time(_ child: ServingChild) async throws -> Duration {
                    try await HTTPLoad(port: child.port, connections: clients).run(count) { number in
                        exchanges[number &* 7_919 % items]
                    }.each.percentile(part)
                }
                return try await compare(
                    items: count, runs: plan.runs, ours: { try await time(ours) }, baseline: { try await time(bare) })
            }
        }
    }

    /// The time of durable writes of single items.
    private static func writing(_ plan: Plan) async throws -> Outcome {
        let items = plan.size(itemCount)
        let count = plan.size(10_000)
        return try await withServer(plan, items: items) { child, notes in
            try await plan.scratch.withFolder { folder in
                let token = try child.token()
                let engine = try SQLiteStorageEngine(openingFile: folder.appendingPathComponent("data.sqlite3"))
                try await ServedNotes.fill(engine, items)
                var (ourVersion, baselineVersion) = (0, 0)
                return try await compare(
                    items: count, runs: plan.runs,
                    ours: {
                        ourVersion += 1
                        let exchanges = (0..<items).map { number in
                            HTTPLoad.Exchange(
                                "PUT", path(number), token: token,
                                body: ServedNotes.data(number, version: ourVersion), expecting: 204)
                        }
                        let time = try await HTTPLoad(port: child.port, connections: clients).run(count) {
                            exchanges[$0 % items]
                        }.all
                        try await verify(
                            notes.fetch(key: ServedNotes.key(items - 1)),
                            equals: ServedNotes.data(items - 1, version: ourVersion), "an item written")
                        return time
                    },
                    baseline: {
                        baselineVersion += 1
                        let data = (0..<items).map { ServedNotes.data($0, version: baselineVersion) }
                        return try await timed {
                            try await withThrowingTaskGroup(of: Void.self) { group in
                                for first in 0..<clients {
                                    group.addTask {
                                        for number in stride(from: first, to: count, by: clients) {
                                            let item = number % items
                                            try await engine.write(data[item], key: ServedNotes.key(item))
                                        }
                                    }
                                }
                                try await group.waitForAll()
                            }
                        }.time
                    })
            }
        }
    }

    /// The memory of the server after many requests of several kinds.
    private static func memory(_ plan: Plan) async throws -> Outcome {
        let items = plan.size(itemCount)
        let count = plan.size(1_000_000)
        return try await withServer(plan, items: items) { child, _ in
            let token = try child.token()
            let reads = (0..<items).map {
                HTTPLoad.Exchange("GET", path($0), token: token, expecting: 200)
            }
            let writes = (0..<items).map {
                HTTPLoad.Exchange(
                    "PUT", path($0), token: token, body: ServedNotes.data($0, version: 1), expecting: 204)
            }
            let missing = HTTPLoad.Exchange("GET", path(items), token: token, expecting: 404)
            let fetch = HTTPLoad.Exchange(
                "POST", "/v1/collections/notes/fetch", token: token, headers: ["Content-Type": "application/json"],
                body: Data(#"{"keys":[{"key":"note-1"},{"key":"note-2"}],"fields":["data"]}"#.utf8), expecting: 200)
            let load = HTTPLoad(port: child.port, connections: clients)
            func run(_ count: Int) async throws {
                _ = try await load.run(count) { number in
                    switch number % 20 {
                    case 0: writes[number % items]
                    case 1: missing
                    case 2: fetch
                    default: reads[number % items]
                    }
                }
            }
            try await run(count / 10)
            let before = try child.memory()
            try await run(count)
            return Outcome(items: count, oursBytes: try child.memory(), baselineBytes: before)
        }
    }
}
