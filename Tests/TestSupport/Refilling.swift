package import Bodega
import BodegaTesting
import Foundation

/// Removes a collection of objects of `CodableStoreKit` and saves a few again, as another program does.
package struct Refilling {
    private var random: SeededGenerator

    package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Removes the collection, mostly, and saves up to five objects, one by one or in a batch.
    package mutating func fill(_ engine: SQLiteStorageEngine, _ name: String, _ round: Int) async throws {
        if Int.random(in: 0..<4, using: &random) > 0 { try await engine.removeCollection(named: name) }
        let ids = (0..<Int.random(in: 0...5, using: &random)).map { _ in "\(Int.random(in: 0..<6, using: &random))" }
        if ids.isEmpty { return }
        try await Self.retrying {
            let collection = try engine.collection(named: name)
            if ids.count.isMultiple(of: 2) {
                try await collection.write(ids.map { (CacheKey($0), try Self.record($0, "round \(round)")) })
            } else {
                for id in ids { try await Self.save(id, "round \(round)", in: collection) }
            }
        }
    }

    /// Saves one object.
    package static func save(_ id: String, _ text: String, in collection: SQLiteStorageEngine) async throws {
        try await collection.write(record(id, text), key: CacheKey(id))
    }

    private static func record(_ id: String, _ text: String) throws -> Data {
        try JSONEncoder().encode(["id": id, "text": text])
    }

    /// Repeats a write while others remove the collection.
    private static func retrying(_ write: () async throws -> Void) async throws {
        while true {
            do {
                return try await write()
            } catch let error as StorageError where error.isOfRemovedCollection {}
        }
    }
}
