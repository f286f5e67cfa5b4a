/// A cache of facts about types that take longer to find than it takes to decode or encode a small value.
struct TypeCache<Fact> {
    private struct Slot {
        let type: ObjectIdentifier
        let fact: Fact
    }

    /// The number of slots. Types that share a slot evict each other.
    private static var slotCount: Int { 128 }

    /// `slotCount` initialized slots.
    private let slots: UnsafeMutablePointer<Slot?>

    init() {
        slots = .allocate(capacity: Self.slotCount)
        slots.initialize(repeating: nil, count: Self.slotCount)
    }

    /// Frees the memory. The cache must not be used afterwards.
    func deallocate() {
        slots.deinitialize(count: Self.slotCount)
        slots.deallocate()
    }

    /// The cached fact about a type. If there is none, the closure finds it.
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
