/// An engine whose items are in the order of their keys, for engines that don't return their items in parts.
///
/// A position is the number of items before it, so it changes when one of these is removed.
package struct PositionedEngine<Base: StorageEngine>: ForwardingStorageEngine, QueryableStorageEngine {
    package let base: Base
    /// The keys of one moment, with which positions stay the same; `nil` to read them for each scan.
    var keys: [CacheKey]?

    package func forward<Value>(_ call: StorageCall, _ body: () async throws -> Value) async throws -> Value {
        try await body()
    }

    package func scan(_ scans: [StorageScan], _ begin: @escaping @Sendable () throws -> StorageReceiver) async throws {
        let receive = try begin()
        var pace = ScanPace()
        for (number, scan) in scans.enumerated() {
            guard case .all(let position) = scan else {
                throw StorageError(.invalidArgument, "The engine has no indexes. Its queries read all items.")
            }
            let keys = if let keys { keys } else { try await base.fetchKeys() }
            var (next, isComplete) = (position.map { $0 + 1 } ?? 0, false)
            while next < keys.count, !isComplete {
                let part = Array(keys[next..<min(next + 256, keys.count)])
                // Items that were removed in the meantime are missing.
                var places = Dictionary(zip(part, next...)) { first, _ in first }
                for (key, data) in try await base.fetch(keys: part) {
                    try await pace.count(data)
                    guard let position = places.removeValue(forKey: key) else { continue }
                    let entry = StorageEntry(key: key, data: data, place: StoragePlace(position: position))
                    if try !receive(number, entry) {
                        isComplete = true
                        break
                    }
                }
                next += part.count
            }
        }
    }

    package func fetchEntries(keys: [CacheKey], index: StorageIndex?) async throws -> [StorageEntry] {
        let all = if let keys = self.keys { keys } else { try await base.fetchKeys() }
        let places = Dictionary(zip(all, 0...)) { first, _ in first }
        return try await base.fetch(keys: keys).compactMap { key, data in
            places[key].map { StorageEntry(key: key, data: data, place: StoragePlace(position: $0)) }
        }
    }
}

extension StorageEngine {
    /// The engine in the form that queries need, and whether the positions of its items stay the same.
    package var queryable: (engine: any QueryableStorageEngine, hasStablePositions: Bool) {
        if let engine = self as? any QueryableStorageEngine { return (engine, true) }
        return (PositionedEngine(base: self), false)
    }

    /// The engine in a form in which the positions of its items stay the same. Of other engines than a
    /// ``QueryableStorageEngine``, this reads all keys.
    package func streamable() async throws -> any QueryableStorageEngine {
        if let engine = self as? any QueryableStorageEngine { return engine }
        return PositionedEngine(base: self, keys: try await fetchKeys())
    }
}
