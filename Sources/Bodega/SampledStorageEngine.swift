/// An engine that returns some keys without reading all.
package protocol SampledStorageEngine: StorageEngine {

    /// Returns some keys, among them the first ones if the engine is ordered, and the last ones if that is quick.
    ///
    /// - Parameter count: The approximate number of keys; at most twice as many are returned.
    func fetchSomeKeys(_ count: Int) async throws -> [CacheKey]
}

extension StorageEngine {
    /// Some keys; all if the engine can't return a part of them.
    package func someKeys(_ count: Int) async throws -> [CacheKey] {
        if let engine = self as? any SampledStorageEngine { return try await engine.fetchSomeKeys(count) }
        return try await fetchKeys()
    }
}
