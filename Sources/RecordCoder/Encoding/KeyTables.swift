/// The key tables of all types of keys in use, found by the address of the type's metadata.
struct KeyTables {
    /// The maximum number of tables.
    private static let limit = 128
    /// The number of slots: twice the maximum number of tables, so that there is always a free one.
    private static let slotCount = 256

    /// A type of keys and its table.
    private struct Slot {
        var type: ObjectIdentifier
        var table: UnsafeMutablePointer<KeyTable>
    }

    /// `slotCount` initialized slots.
    private let slots: UnsafeMutablePointer<Slot?>
    private var count = 0

    /// Allocates the slots. The owner must deallocate the tables.
    init() {
        slots = .allocate(capacity: Self.slotCount)
        slots.initialize(repeating: nil, count: Self.slotCount)
    }

    /// Frees the tables. They must not be used afterwards.
    func deallocate() {
        freeTables()
        slots.deinitialize(count: Self.slotCount)
        slots.deallocate()
    }

    /// Removes all tables if there is no room for another one. No frame may be open, because frames refer to tables.
    mutating func makeRoom() {
        guard count == Self.limit else { return }
        freeTables()
        slots.update(repeating: nil, count: Self.slotCount)
        count = 0
    }

    /// The table of a type of keys.
    ///
    /// - Returns: `nil` if there are too many tables.
    @inline(__always)
    mutating func table<Key: CodingKey>(for type: Key.Type) -> UnsafeMutablePointer<KeyTable>? {
        let identifier = ObjectIdentifier(type)
        var index = identifier.slot(of: Self.slotCount)
        // The loop ends because there is always a free slot. In bounds: the index is below slotCount.
        while let slot = slots[index] {
            if slot.type == identifier { return slot.table }
            index = (index &+ 1) & (Self.slotCount &- 1)
        }
        return addTable(for: type, at: index)
    }

    /// Adds an empty table in a free slot.
    @inline(never)
    private mutating func addTable<Key: CodingKey>(
        for type: Key.Type, at index: Int
    ) -> UnsafeMutablePointer<KeyTable>? {
        guard count < Self.limit else { return nil }
        let table = UnsafeMutablePointer<KeyTable>.allocate(capacity: 1)
        table.initialize(to: KeyTable(maker: ReadyContainerMaker<Key, KeyedValueEncoder<Key>>()))
        // In bounds: the caller's index is below slotCount.
        slots[index] = Slot(type: ObjectIdentifier(type), table: table)
        count += 1
        return table
    }

    private func freeTables() {
        // In bounds: there are slotCount slots, all initialized.
        for index in 0..<Self.slotCount {
            guard let table = slots[index]?.table else { continue }
            table.pointee.deallocate()
            table.deinitialize(count: 1)
            table.deallocate()
        }
    }
}

extension ObjectIdentifier {
    /// The slot of a type in a hash table whose number of slots is a power of two.
    @inline(__always)
    func slot(of slotCount: Int) -> Int {
        // Metadata is aligned to at least eight bytes, and related types have metadata at near addresses.
        let address = UInt(bitPattern: self)
        return Int(truncatingIfNeeded: (address &>> 4) ^ (address &>> 11)) & (slotCount &- 1)
    }
}
