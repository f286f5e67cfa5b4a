import BenchHarness
import Bodega
import Foundation

extension Metrics {
    static let disk = [
        Metric("disk.write.batch", baseline: "POSIX write and rename, one sync", maximum: 1.8) { plan in
            try await diskWriteBatch(plan)
        },
        Metric("disk.write.single", baseline: "POSIX write, rename, and two syncs", maximum: nil) { plan in
            try await diskWriteSingle(plan, .full)
        },
        Metric("disk.write.single.relaxed", baseline: "Data.write(to:options: .atomic)", maximum: 1.4) { plan in
            try await diskWriteSingle(plan, .relaxed)
        },
        Metric("disk.read.all", baseline: "POSIX open and read loop", maximum: 1.5) { plan in
            try await diskReadAll(plan)
        },
        Metric("disk.remove.all", baseline: "POSIX unlink loop", maximum: 1.5) { plan in
            try await diskRemoveAll(plan)
        },
    ]

    private static func diskWriteBatch(_ plan: Plan) async throws -> Outcome {
        try await diskWrite(plan, items: plan.size(4_000), .full) { engine, items in
            try await engine.write(items)
        } baseline: { folder, items in
            try POSIXFolder(folder).write(items)
        }
    }

    private static func diskWriteSingle(_ plan: Plan, _ durability: StorageDurability) async throws -> Outcome {
        try await diskWrite(plan, items: plan.size(1_000), durability) { engine, items in
            for item in items { try await engine.write(item.data, key: item.key) }
        } baseline: { folder, items in
            if durability == .full {
                let files = try POSIXFolder(folder)
                for item in items { try files.writeDurably(item.data, name: item.key.value) }
                return
            }
            for item in items {
                let file = folder.appendingPathComponent(item.key.value, isDirectory: false)
                try item.data.write(to: file, options: .atomic)
            }
        }
    }

    /// Compares two ways to write new items into an empty folder.
    private static func diskWrite(
        _ plan: Plan,
        items count: Int,
        _ durability: StorageDurability,
        ours: @escaping (DiskStorageEngine, [(key: CacheKey, data: Data)]) async throws -> Void,
        baseline: @escaping (URL, [(key: CacheKey, data: Data)]) throws -> Void
    ) async throws -> Outcome {
        let items = Items.make(count)
        return try await compare(
            items: count,
            runs: plan.runs,
            ours: {
                try await plan.scratch.withFolder { folder in
                    let place = FileManager.Directory(url: folder)
                    let engine = try DiskStorageEngine(opening: place, durability: durability)
                    let time = try await timed { try await ours(engine, items) }.time
                    try await verify(engine.fetchCount(), equals: count, "items written")
                    return time
                }
            },
            baseline: {
                try await plan.scratch.withFolder { folder in
                    let time = try timed { try baseline(folder, items) }.time
                    try verify(POSIXFolder(folder).count(), equals: count, "files of the baseline")
                    return time
                }
            }
        )
    }

    private static func diskReadAll(_ plan: Plan) async throws -> Outcome {
        let items = Items.make(plan.size(10_000))
        let sum = Checksum.ofSet(items.map(\.data))
        return try await plan.scratch.withFolder { folder in
            let engine = try DiskStorageEngine(opening: FileManager.Directory(url: folder))
            try await engine.write(items)
            // A separate folder: the engine's other files must not become items of the baseline.
            return try await plan.scratch.withFolder { folder in
                let files = try POSIXFolder(folder)
                try files.write(items)
                return try await compare(
                    items: items.count,
                    runs: plan.runs,
                    ours: {
                        let (time, values) = try await timed { try await engine.fetchAllData() }
                        try verify(Checksum.ofSet(values), equals: sum, "the checksum of what was read")
                        return time
                    },
                    baseline: {
                        let (time, values) = try timed { try files.readAll() }
                        try verify(Checksum.ofSet(values), equals: sum, "the checksum of the baseline")
                        return time
                    }
                )
            }
        }
    }

    private static func diskRemoveAll(_ plan: Plan) async throws -> Outcome {
        let items = Items.make(plan.size(4_000))
        return try await compare(
            items: items.count,
            runs: plan.runs,
            ours: {
                try await plan.scratch.withFolder { folder in
                    let engine = try DiskStorageEngine(opening: FileManager.Directory(url: folder))
                    try await engine.write(items)
                    try await verify(engine.fetchCount(), equals: items.count, "items to be removed")
                    let time = try await timed { try await engine.removeAllData() }.time
                    try await verify(engine.fetchCount(), equals: 0, "items left")
                    return time
                }
            },
            baseline: {
                try await plan.scratch.withFolder { folder in
                    let files = try POSIXFolder(folder)
                    try files.write(items)
                    try verify(files.count(), equals: items.count, "files to be removed")
                    let time = try timed { try files.removeAll() }.time
                    try verify(files.count(), equals: 0, "files of the baseline left")
                    return time
                }
            }
        )
    }
}
