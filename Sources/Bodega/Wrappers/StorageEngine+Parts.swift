import Foundation

extension StorageEngine {

    /// All items in insertion order, at most 500 at a time, so that they need not fit into memory.
    ///
    /// The keys are read first. Items that are added later are not included, nor those that are removed before their turn.
    func parts() -> AsyncThrowingStream<PartialRead<[(key: CacheKey, data: Data)]>, any Error> {
        let remaining = Locked<ArraySlice<CacheKey>?>(nil)
        return AsyncThrowingStream {
            if remaining.withLock({ $0 }) == nil {
                let keys = try await fetchKeys()
                remaining.withLock { $0 = keys[...] }
            }
            let keys = remaining.withLock { remaining in
                defer { remaining = remaining?.dropFirst(500) }
                return Array(remaining?.prefix(500) ?? [])
            }
            return keys.isEmpty ? nil : try await PartialRead(from: self) { try await $0.fetch(keys: keys) }
        }
    }
}
