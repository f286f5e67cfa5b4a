import Bodega
import Foundation

extension RecordObjects {

    func objects() throws -> FetchedObjects<Object> {
        try core.readingAll {
            let items = try records.items()
            return try fetched(items, Codec<Object>.decode(all: items.map(\.data)))
        }
    }

    func objectsWithoutKeys() throws -> ObjectsWithoutKeys<Object> {
        try core.readingAll { try readObjectsWithoutKeys() }
    }

    private func readObjectsWithoutKeys() throws -> ObjectsWithoutKeys<Object> {
        // Usually, each record is an object under its own key. Then the keys, which take time to create, aren't needed.
        guard records.canHoldStrays else {
            let decoded = Codec<Object>.decode(all: try records.values())
            if decoded.failures.isEmpty { return ObjectsWithoutKeys(objects: decoded.objects) }
            return ObjectsWithoutKeys(try objects())
        }
        let items = try records.items()
        let hasStrays = Locked(false)
        let decoded = Codec<Object>.decode(all: items.map(\.data)) { index, object in
            if isStray(object, under: items[index].key) { hasStrays.withLock { $0 = true } }
        }
        if decoded.failures.isEmpty, !hasStrays.withLock({ $0 }) {
            return ObjectsWithoutKeys(objects: decoded.objects)
        }
        return ObjectsWithoutKeys(try fetched(items, decoded))
    }

    /// Pairs decoded objects with their keys.
    private func fetched(
        _ items: [(key: CacheKey, data: Data)],
        _ decoded: DecodedObjects<Object>
    ) throws -> FetchedObjects<Object> {
        var found = FetchedObjects<Object>()
        found.undecodable = decoded.failures.map { noted(Codec<Object>.undecodable(items[$0.index].key, $0.error)) }
        let failed = Set(decoded.failures.map(\.index))
        let keys = items.indices.lazy.filter { !failed.contains($0) }.map { items[$0].key }
        found.objectsAndKeys = zip(keys, decoded.objects).map { ($0, $1) }
        return try withoutShadowedStrays(found)
    }
}

/// All objects of a collection, for callers that do not need the keys.
struct ObjectsWithoutKeys<Object> {
    var objects: [Object]
    var undecodable: [StorageError] = []
}

extension ObjectsWithoutKeys {
    init(_ found: FetchedObjects<Object>) {
        objects = found.objects
        undecodable = found.undecodable
    }
}
