import BenchHarness
import Bodega
import Boutique
import Foundation

extension Metrics {
    static let memory = [
        Metric("memory.sqlite.read.all", baseline: "the bytes of the values", maximum: 2) { plan in
            try await memoryOfReadAll(plan, withKeys: false)
        },
        Metric("memory.sqlite.read.all.keys", baseline: "the bytes of the values and keys", maximum: 2) { plan in
            try await memoryOfReadAll(plan, withKeys: true)
        },
        Metric("memory.store.load", baseline: "an array decoded by JSONDecoder", maximum: 1) { plan in
            try await memoryOfStore(plan)
        },
    ]

    private static func memoryOfReadAll(_ plan: Plan, withKeys: Bool) async throws -> Outcome {
        try await plan.scratch.withFolder { folder in
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
            var payload = 0
            let count = plan.size(1_000_000)
            // In batches, so that this process stays small.
            for start in stride(from: 0, to: count, by: 100_000) {
                let items = Items.make(min(100_000, count - start), startingAt: start)
                try await engine.write(items)
                payload += items.reduce(0) { $0 + $1.data.count + (withKeys ? $1.key.rawValue.utf8.count : 0) }
            }
            let child = try ReadingChild(file: engine.file, kind: withKeys ? .items : .values).run()
            try verify(child.items, equals: count, "items that the child read")
            try verify(child.payload, equals: payload, "bytes that the child read")
            return Outcome(items: count, oursBytes: child.growth, baselineBytes: payload)
        }
    }

    private static func memoryOfStore(_ plan: Plan) async throws -> Outcome {
        let count = plan.size(100_000)
        return try await withEngine(plan, holding: count) { engine in
            // The first store creates the log.
            _ = try await Store<Person>(storage: engine, cacheIdentifier: \.id.uuidString)
            let ours = try ReadingChild(file: engine.file, kind: .store).run()
            let baseline = try ReadingChild(file: engine.file, kind: .array).run()
            try verify(ours.items, equals: count, "people in the store of the child")
            try verify(ours.payload, equals: baseline.payload, "the size of all names")
            return Outcome(items: count, oursBytes: ours.growth, baselineBytes: baseline.growth)
        }
    }
}
