/// A type that is decoded without its `init(from:)`: because Foundation treats it in its own way, or because the detour over
/// generic containers costs more than the value.
protocol TapeDecodable {
    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - index: The value's token.
    ///   - state: Where the token is.
    static func decode(at index: Int, from state: DecodingState) throws -> Self
}

extension TapeDecodable {
    /// Decodes a value to where nothing is yet.
    ///
    /// - Parameter destination: Memory for a value of this type, which is initialised if nothing is thrown.
    fileprivate static func decode(
        at index: Int,
        from state: DecodingState,
        to destination: UnsafeMutableRawPointer
    ) throws {
        destination.initializeMemory(as: Self.self, to: try decode(at: index, from: state))
    }
}

/// Which types are ``TapeDecodable``: a cache, because a cast that has to look at conditional conformances is slow.
struct TypeTable {
    private struct Entry {
        let type: ObjectIdentifier
        let decodable: (any TapeDecodable.Type)?
    }

    private static let capacity = 128
    /// Initialised: ``capacity`` places, in one of which a type is or is not.
    private let entries: UnsafeMutablePointer<Entry?>

    init() {
        entries = .allocate(capacity: Self.capacity)
        entries.initialize(repeating: nil, count: Self.capacity)
    }

    /// Frees the memory. The table must not be used any more.
    func deallocate() {
        entries.deinitialize(count: Self.capacity)
        entries.deallocate()
    }

    @inline(__always)
    func decodable<Value>(_ type: Value.Type) -> (any TapeDecodable.Type)? {
        let identifier = ObjectIdentifier(type)
        let bits = UInt(bitPattern: identifier)
        // Addresses of types differ in the bits above the lowest few. The remainder is a place in the table.
        let place = Int((bits >> 4 ^ bits >> 11) % UInt(Self.capacity))
        if let entry = entries[place], entry.type == identifier { return entry.decodable }
        let decodable = type as? any TapeDecodable.Type
        entries[place] = Entry(type: identifier, decodable: decodable)
        return decodable
    }
}

extension DecodingState {

    /// Decodes a value of any type.
    func decode<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
        guard let decodable = fields.pointee.types.decodable(type) else {
            return try Value(from: ValueDecoder(state: self, index: index))
        }
        return try withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { buffer in
            // The buffer holds one `Value`, which is the type that `decodable` is, seen as what it conforms to. If nothing is
            // thrown, it is initialised.
            let destination = buffer.baseAddress.unsafelyUnwrapped
            try decodable.decode(at: index, from: self, to: UnsafeMutableRawPointer(destination))
            return destination.move()
        }
    }
}
