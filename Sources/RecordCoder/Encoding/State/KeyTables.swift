/// The key tables of all types of keys that came up, found by the address of the type's metadata.
struct KeyTables {
    /// For how many types there are tables at most.
    private static let limit = 128
    /// How many slots the directory has: twice as many as there are tables, so that there is always a free one.
    private static let slotCount = 256

    /// A type of keys and its table; no table if the slot is free.
    private struct Slot {
        var type: ObjectIdentifier
        var table: UnsafeMutablePointer<KeyTable>
    }

    /// `slotCount` initialized slots.
    private let slots: UnsafeMutablePointer<Slot?>
    private var count = 0

    /// Makes room for tables; their owner has to deallocate them.
    init() {
        slots = .allocate(capacity: Self.slotCount)
        slots.initialize(repeating: nil, count: Self.slotCount)
    }

    /// Frees the tables; they must not be used afterwards.
    func deallocate() {
        freeTables()
        slots.deinitialize(count: Self.slotCount)
        slots.deallocate()
    }

    /// Makes room if there is none. No frame may be open, as frames refer to tables.
    mutating func makeRoom() {
        guard count == Self.limit else { return }
        freeTables()
        slots.update(repeating: nil, count: Self.slotCount)
        count = 0
    }

    /// The table of a type of keys.
    ///
    /// - Returns: `nil` if tables don't suit the type, or if there are too many.
    @inline(__always)
    mutating func table<Key: CodingKey>(for type: Key.Type) -> UnsafeMutablePointer<KeyTable>? {
        let identifier = ObjectIdentifier(type)
        var index = identifier.slot(of: Self.slotCount)
        // Ends, as fewer slots than there are hold a table. In bounds: the index is below slotCount.
        while let slot = slots[index] {
            if slot.type == identifier { return slot.table }
            index = (index &+ 1) & (Self.slotCount &- 1)
        }
        return addTable(for: type, at: index)
    }

    /// Adds an empty table, at a slot that is free.
    @inline(never)
    private mutating func addTable<Key: CodingKey>(
        for type: Key.Type, at index: Int
    ) -> UnsafeMutablePointer<KeyTable>? {
        guard count < Self.limit else { return nil }
        let table = UnsafeMutablePointer<KeyTable>.allocate(capacity: 1)
        table.initialize(to: KeyTable(maker: ReadyContainerMaker<Key, KeyedValueEncoder<Key>>()))
        // In bounds, as the caller found the index below slotCount.
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
    /// Where to look for a type in a table with a number of slots that is a power of two.
    @inline(__always)
    func slot(of slotCount: Int) -> Int {
        // Metadata is aligned to at least eight bytes, and the metadata of related types lies close together.
        let address = UInt(bitPattern: self)
        return Int(truncatingIfNeeded: (address &>> 4) ^ (address &>> 11)) & (slotCount &- 1)
    }
}
