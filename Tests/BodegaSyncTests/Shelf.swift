import Bodega
import TestSupport

/// A remote database some of whose collections can't be opened or read.
final class Shelf: Sendable {
    let server = MemoryStorageEngine()
    private let closed = Locked<Set<String>>([])

    func close(_ names: Set<String>) { closed.withLock { $0 = names } }

    func engine(_ name: String) throws -> any StorageEngine {
        if closed.withLock({ $0.contains(name) }) { throw StorageError(.cannotOpen, "No such collection.") }
        return server.collection(named: name)
    }
}
