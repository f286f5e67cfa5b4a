import Bodega
import BodegaTesting

/// Items in several engines, and in an array.
final class QueriedItems {
    struct Item {
        let key: CacheKey
        var document: ModelSamples.Document
    }

    /// In insertion order.
    private(set) var items: [Item] = []
    private let engines: [any StorageEngine]
    private var nextKey = 0

    init(in engines: [any StorageEngine]) { self.engines = engines }

    func removeAll() async throws {
        for engine in engines { try await engine.removeAllData() }
        items = []
    }

    func add(_ documents: [ModelSamples.Document]) async throws {
        let added = documents.map { document in
            nextKey += 1
            return Item(key: CacheKey(verbatim: "item \(nextKey)"), document: document)
        }
        try await write(added)
    }

    /// Writes, removes, or removes and writes again.
    func change(_ samples: inout ModelSamples) async throws {
        switch Int.random(in: 0..<4, using: &samples.random) {
        case 0:
            try await add((0..<Int.random(in: 1...4, using: &samples.random)).map { _ in samples.document() })
        case 1:
            let changed = items.shuffled(using: &samples.random).prefix(5).map {
                Item(key: $0.key, document: samples.document())
            }
            try await write(Array(changed))
        case 2:
            try await remove(items.shuffled(using: &samples.random).prefix(3).map(\.key))
        default:
            let moved = Array(items.shuffled(using: &samples.random).prefix(2))
            try await remove(moved.map(\.key))
            try await write(moved)
        }
    }

    private func write(_ written: [Item]) async throws {
        for engine in engines { try await engine.write(written.map { ($0.key, $0.document.bytes) }) }
        for item in written {
            if let index = items.firstIndex(where: { $0.key == item.key }) {
                items[index] = item
            } else {
                items.append(item)
            }
        }
    }

    private func remove(_ keys: [CacheKey]) async throws {
        for engine in engines { try await engine.remove(keys: keys) }
        items.removeAll { keys.contains($0.key) }
    }

    /// The items in the order of an engine's keys, which is that of insertion in all but one.
    func items(in engine: any StorageEngine) async throws -> [Item] {
        guard engine is DiskStorageEngine else { return items }
        let places = Dictionary(uniqueKeysWithValues: zip(try await engine.fetchKeys(), 0...))
        // An item that the engine has lost is still expected.
        return items.sorted { places[$0.key] ?? .max < places[$1.key] ?? .max }
    }
}
