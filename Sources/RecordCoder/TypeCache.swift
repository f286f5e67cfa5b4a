/// Remembers something about types that takes longer to find out than to decode or encode a small value.
struct TypeCache<Fact> {
    private struct Slot {
        let type: ObjectIdentifier
        let fact: Fact
    }

    /// How many types are remembered at most; each has one slot, which it may have to leave to another.
    private static var slotCount: Int { 128 }

    /// `slotCount` initialized slots.
    private let slots: UnsafeMutablePointer<Slot?>

    /// Makes an empty cache, which its owner has to deallocate.
    init() {
        slots = .allocate(capacity: Self.slotCount)
        slots.initialize(repeating: nil, count: Self.slotCount)
    }

    /// Frees the memory, which must not be used afterwards.
    func deallocate() {
        slots.deinitialize(count: Self.slotCount)
        slots.deallocate()
    }

    /// What is remembered about a type, or else found out.
    @inline(__always)
    func fact(about type: any Any.Type, _ find: () -> Fact) -> Fact {
        let identifier = ObjectIdentifier(type)
        // In bounds: the index is below slotCount.
        let slot = slots + identifier.slot(of: Self.slotCount)
        if let known = slot.pointee, known.type == identifier { return known.fact }
        let fact = find()
        slot.pointee = Slot(type: identifier, fact: fact)
        return fact
    }
}
