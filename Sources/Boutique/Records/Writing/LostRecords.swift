import Bodega
import Logging

/// The records that an engine has lost on its own: evicted, or expired.
struct LostRecords: Sendable {
    fileprivate(set) var keys: Set<CacheKey> = []
    /// Whether all records must be read to know what the engine has lost.
    fileprivate(set) var mustReload = false
}

extension RecordStorage {

    /// Finds out which records the engine has lost on its own, of those that it may have evicted during a write and of
    /// those that may have expired.
    func lostRecords(_ evicted: Set<CacheKey>, after written: WrittenOperations<Item>) async -> LostRecords {
        let expired = traits.contains(.expires) ? expiringRecords.takeExpired(at: engine.now()) : []
        let keys = evicted.union(expired)
        if keys.isEmpty { return LostRecords() }
        // A record that was evicted and written again is the last one, which only the engine's order shows.
        let isWrittenAgain = written.records.contains { $0.writtenKey.map(evicted.contains) ?? false }
        let mustReload = written.planner?.exceptions.isEmpty == false || isWrittenAgain
        do {
            let request = FetchRequest(
                Array(keys), traits.contains(.expires) ? .expiry : [], options: ReadOptions(needsOriginal: true))
            let remaining = try await engine.fetch(request).value
            expiringRecords.note(remaining)
            return LostRecords(keys: keys.subtracting(remaining.map(\.key)), mustReload: mustReload)
        } catch {
            boutiqueLogger.debug("Evictions could not be read after a write.", metadata: ["error": "\(error)"])
            return LostRecords(keys: keys, mustReload: true)
        }
    }
}
