import BenchHarness
import Bodega
import Crypto
import Foundation
import Logging

extension Metrics {
    static let wrappers = [
        Metric("wrapper.readonly.read", baseline: "the engine in memory alone", maximum: 2) { plan in
            try await readSingle(plan) { $0.readOnly() }
        },
        Metric("wrapper.retrying.read", baseline: "the engine in memory alone", maximum: 3) { plan in
            try await readSingle(plan) { $0.retrying() }
        },
        Metric("wrapper.logged.read", baseline: "the engine in memory alone, nothing logged", maximum: 3) { plan in
            try await readSingle(plan) { $0.logged(by: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }) }
        },
        Metric("wrapper.prefixed.read", baseline: "the engine in memory alone", maximum: 4) { plan in
            try await readSingle(plan) { $0.prefixed("items") }
        },
        Metric("wrapper.expiring.read", baseline: "the engine in memory alone", maximum: 4) { plan in
            try await readSingle(plan) { $0.expiring(after: .seconds(86_400)) }
        },
        Metric("wrapper.limited.read", baseline: "the engine in memory alone", maximum: 3) { plan in
            try await readSingle(plan) { $0.limited(count: 10_000_000) }
        },
        Metric("wrapper.mirrored.read", baseline: "the engine in memory alone", maximum: 4) { plan in
            try await readSingle(plan) { $0.mirrored(to: MemoryStorageEngine()) }
        },
        Metric("wrapper.encrypted.write.batch", baseline: "AES-GCM alone, then SQLite alone", maximum: 1.3) { plan in
            try await encryptBatch(plan)
        },
        Metric("wrapper.encrypted.read.all", baseline: "SQLite alone, then AES-GCM alone", maximum: 1.5) { plan in
            try await decryptAll(plan)
        },
    ]

    /// Compares reads of single items through a wrapper with those of its base.
    private static func readSingle(
        _ plan: Plan, _ wrap: (MemoryStorageEngine) -> some StorageEngine
    ) async throws -> Outcome {
        let items = Items.make(plan.size(100_000))
        let base = MemoryStorageEngine()
        try await base.write(items)
        let wrapped = wrap(base)
        if !(wrapped is ReadOnlyStorageEngine) { try await wrapped.write(items) }
        return try await compare(
            items: items.count,
            runs: plan.runs,
            ours: { try await timeOfReads(of: items, wrapped) },
            baseline: { try await timeOfReads(of: items, base) }
        )
    }

    private static func timeOfReads(
        of items: [(key: CacheKey, data: Data)], _ engine: some StorageEngine
    ) async throws -> Duration {
        let (time, count) = try await timed {
            var count = 0
            for item in items where try await engine.fetch(key: item.key) != nil { count += 1 }
            return count
        }
        try verify(count, equals: items.count, "items read")
        return time
    }

    private static func encryptBatch(_ plan: Plan) async throws -> Outcome {
        let items = Items.make(plan.size(100_000))
        let keyset = EncryptionKeyset()
        let key = SymmetricKey(size: .bits256)
        return try await compare(
            items: items.count,
            runs: plan.runs,
            ours: {
                try await plan.scratch.withFolder { folder in
                    let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
                        .encrypted(with: keyset, collection: "items")
                    let time = try await timed { try await engine.write(items) }.time
                    try await verify(engine.fetch(key: items[0].key), equals: items[0].data, "the first item written")
                    return time
                }
            },
            baseline: {
                try await plan.scratch.withFolder { folder in
                    let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
                    let time = try await timed { try await engine.write(sealed(items, with: key)) }.time
                    try await verify(engine.fetchCount(), equals: items.count, "items of the baseline")
                    return time
                }
            }
        )
    }

    private static func decryptAll(_ plan: Plan) async throws -> Outcome {
        let items = Items.make(plan.size(100_000))
        let keyset = EncryptionKeyset()
        let key = SymmetricKey(size: .bits256)
        return try await plan.scratch.withFolder { folder in
            let encrypted = try SQLiteStorageEngine(
                opening: FileManager.Directory(url: folder.appendingPathComponent("ours"))
            ).encrypted(with: keyset, collection: "items")
            try await encrypted.write(items)
            let base = try SQLiteStorageEngine(
                opening: FileManager.Directory(url: folder.appendingPathComponent("baseline")))
            try await base.write(sealed(items, with: key))
            let sum = Checksum.ofList(items.map(\.data))
            return try await compare(
                items: items.count,
                runs: plan.runs,
                ours: {
                    let (time, found) = try await timed { try await encrypted.fetchAll() }
                    try verify(Checksum.ofList(found.map(\.data)), equals: sum, "the checksum of what was read")
                    return time
                },
                baseline: {
                    let (time, found) = try await timed {
                        try await base.fetchAll().map { item in
                            let box = try AES.GCM.SealedBox(combined: item.data)
                            let data = try AES.GCM.open(box, using: key, authenticating: associatedData(item.key))
                            return (key: item.key, data: data)
                        }
                    }
                    try verify(Checksum.ofList(found.map(\.data)), equals: sum, "the checksum of the baseline")
                    return time
                }
            )
        }
    }

    private static func sealed(
        _ items: [(key: CacheKey, data: Data)], with key: SymmetricKey
    ) throws -> [(key: CacheKey, data: Data)] {
        try items.map { item in
            let box = try AES.GCM.seal(item.data, using: key, authenticating: associatedData(item.key))
            guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
            return (item.key, combined)
        }
    }

    private static func associatedData(_ key: CacheKey) -> Data { Data(key.rawValue.utf8) }
}
