import Bodega
import Foundation

/// Records in memory.
final class MemoryCollection: RecordCollection {

    private let core = Locked(MemoryCore())

    private struct Contents: RecordContents {
        let core: MemoryCore

        func data(of key: CacheKey) -> Data? { core[key]?.data }
        func allItems() -> [(key: CacheKey, data: Data)] { core.entries.map { ($0.key, $0.data) } }
    }

    func key(_ text: String) -> CacheKey { CacheKey(text) }

    func data(of key: CacheKey) -> Data? {
        core.withLock { $0[key]?.data }
    }

    func contains(_ key: CacheKey) -> Bool {
        core.withLock { $0.contains(key) }
    }

    func items() -> [(key: CacheKey, data: Data)] {
        core.withLock { Contents(core: $0).allItems() }
    }

    func file(of key: CacheKey) -> URL? { nil }

    func update(
        _ body: @escaping @Sendable (any RecordContents) throws -> [StorageOperation],
        committed: @escaping @Sendable () -> Void
    ) throws {
        try core.withLock { core in
            let operations = try body(Contents(core: core))
            core.apply(operations, at: Date())
            committed()
        }
    }

    func removeAll(committed: @escaping @Sendable ([(key: CacheKey, data: Data)]) -> Void) {
        core.withLock { core in
            let items = Contents(core: core).allItems()
            core.apply([.removeAll], at: Date())
            committed(items)
        }
    }
}
