import Bodega

/// Memory that collections are in, told apart by its identity.
final class MemoryPlace: Sendable, Hashable {

    /// The memory of ``CodableStore/Engine/inMemory``.
    static let shared = MemoryPlace()

    static func == (left: MemoryPlace, right: MemoryPlace) -> Bool {
        left === right
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
