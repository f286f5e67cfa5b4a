package import Bodega
package import Foundation

/// Engines in wrappers that keep state, which a test and the process that it kills open on the same files.
package enum WrappedEngine: String, CaseIterable, Sendable {
    case limited, mirrored, expiring, encrypted, nested

    /// The limits of the limited engines.
    package static let limit = (count: 30, bytes: 3_000)

    /// An engine, and the parts of it to check.
    package struct Opened: Sendable {
        /// The engine in its wrappers.
        package let engine: any StorageEngine
        /// The items as the innermost wrapper stores them.
        package let base: SQLiteStorageEngine
        /// The engine without the mirror; `nil` if it has none.
        package var original: (any StorageEngine)?
        /// The mirror, if there is one.
        package var mirror: SQLiteStorageEngine?
        /// Makes the mirror equal, if there is one.
        package var repair: (@Sendable () async throws -> Int)?
    }

    /// Whether items make room for others.
    package var isLimited: Bool { self == .limited || self == .nested }

    /// The bytes that the wrappers inside of the limit add to each item.
    package var overhead: Int { self == .nested ? 33 : 0 }

    /// Opens the engine in a folder that contains its keyset.
    package func open(in folder: URL) throws -> Opened {
        func file(_ name: String) throws -> SQLiteStorageEngine {
            try SQLiteStorageEngine(openingFile: folder.appendingPathComponent(name), durability: .relaxed)
        }
        func keyset() throws -> EncryptionKeyset {
            try EncryptionKeyset(json: Data(contentsOf: folder.appendingPathComponent("keyset.json")))
        }
        let base = try file("base.sqlite3")
        let limit = Self.limit
        switch self {
        case .limited: return Opened(engine: base.limited(count: limit.count, bytes: limit.bytes), base: base)
        case .expiring: return Opened(engine: base.expiring(after: .seconds(86_400)), base: base)
        case .encrypted: return try Opened(engine: base.encrypted(with: keyset()), base: base)
        case .mirrored:
            let mirror = try file("mirror.sqlite3")
            let engine = base.mirrored(to: mirror)
            return Opened(engine: engine, base: base, original: base, mirror: mirror) { try await engine.repair() }
        case .nested:
            let mirror = try file("mirror.sqlite3")
            let limited = try base.encrypted(with: keyset()).limited(count: limit.count, bytes: limit.bytes)
            let mirrored = limited.mirrored(to: mirror)
            let engine = mirrored.cached(bytes: 4_000).expiring(after: .seconds(86_400))
            return Opened(engine: engine, base: base, original: limited, mirror: mirror) {
                try await mirrored.repair()
            }
        }
    }

    /// The item of a number in a batch. It is the same for all items of the batch.
    package static func data(_ number: Int) -> Data { Data(repeating: UInt8(number % 251), count: 20 + number % 40) }

    /// The keys of a writer, which each of its batches writes.
    package static func keys(ofWriter writer: Int) -> [CacheKey] {
        (0..<3).map { CacheKey(verbatim: "writer \(writer) \($0)") }
    }
}
