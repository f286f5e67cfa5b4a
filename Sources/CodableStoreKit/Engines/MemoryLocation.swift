import Bodega

/// An in-memory location of collections, compared by its identity.
final class MemoryLocation: Sendable, Hashable {

    /// The memory of ``CodableStore/Engine/inMemory``.
    static var current: MemoryLocation { TemporaryStorage.current?.object { MemoryLocation() } ?? shared }

    private static let shared = MemoryLocation()

    private let turn = MemoryTurn()
    private let cores = Locked<[String: CollectionCore]>([:])

    /// Returns a collection, and creates it if necessary.
    func core(at path: String) -> CollectionCore {
        cores.withLock { cores in
            if let core = cores[path] { return core }
            let core = CollectionCore(MemoryCollection(turn))
            cores[path] = core
            return core
        }
    }

    static func == (left: MemoryLocation, right: MemoryLocation) -> Bool {
        left === right
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
