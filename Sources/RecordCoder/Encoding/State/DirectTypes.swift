/// Remembers which types are encoded directly, as to find out by a cast costs more than to encode a small value.
struct DirectTypes {
    /// How many types are remembered at most; each has one slot that it may have to leave to another.
    private static let slotCount = 128

    /// What is known of a type: how it is encoded directly, or that it isn't.
    private struct Slot {
        var type: ObjectIdentifier
        var direct: (any DirectlyEncodable.Type)?
    }

    /// `slotCount` initialized slots.
    private let slots: UnsafeMutablePointer<Slot>

    /// Makes an empty memory, which its owner has to deallocate.
    init() {
        slots = .allocate(capacity: Self.slotCount)
        // The answer for a type that nobody asks for stands for none.
        slots.initialize(repeating: Slot(type: ObjectIdentifier(Never.self), direct: nil), count: Self.slotCount)
    }

    /// Frees the memory, which must not be used afterwards.
    func deallocate() {
        slots.deinitialize(count: Self.slotCount)
        slots.deallocate()
    }

    /// How a type is encoded directly; `nil` if it encodes itself with an encoder.
    @inline(__always)
    func direct(_ type: any Any.Type) -> (any DirectlyEncodable.Type)? {
        let identifier = ObjectIdentifier(type)
        // In bounds: the index is below slotCount.
        let slot = slots + identifier.slot(of: Self.slotCount)
        if slot.pointee.type == identifier { return slot.pointee.direct }
        return remember(type, at: slot)
    }

    @inline(never)
    private func remember(
        _ type: any Any.Type, at slot: UnsafeMutablePointer<Slot>
    ) -> (any DirectlyEncodable.Type)? {
        let direct = type as? any DirectlyEncodable.Type
        slot.pointee = Slot(type: ObjectIdentifier(type), direct: direct)
        return direct
    }
}
