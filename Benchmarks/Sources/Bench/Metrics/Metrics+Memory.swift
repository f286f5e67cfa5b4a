import BenchHarness
import Bodega
import Foundation

extension Metrics {
    static let memory = [
        Metric("memory.sqlite.read.all", baseline: "the bytes of the values", maximum: 2) { plan in
            try await memoryOfReadAll(plan, withKeys: false)
        },
        Metric("memory.sqlite.read.all.keys", baseline: "the bytes of the values and keys", maximum: 2) { plan in
            try await memoryOfReadAll(plan, withKeys: true)
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
            let child = try ReadAllChild(file: engine.file, withKeys: withKeys).run()
            try verify(child.items, equals: count, "items that the child read")
            try verify(child.payload, equals: payload, "bytes that the child read")
            return Outcome(items: count, oursBytes: child.growth, baselineBytes: payload)
        }
    }
}
