/// Decodes the elements of an array in order. It is small enough to be stored in an existential without an allocation.
struct ArrayContainer {
    let state: DecodingState
    /// The array's token.
    private let array: UInt32
    /// The token of the next element, or the token after the array.
    private var next: UInt32
    private(set) var currentIndex = 0

    init(state: DecodingState, array: Int) {
        self.state = state
        self.array = UInt32(truncatingIfNeeded: array)
        next = UInt32(truncatingIfNeeded: array + 1)
    }

    private var token: Token { state.fields.pointee.tape[Int(array)] }

    /// Decodes the next element with a closure. If the closure throws, the container does not advance.
    @inline(__always)
    private mutating func decodeNext<Value>(
        _ type: Any.Type,
        isSuper: Bool = false,
        _ body: (_ index: Int) throws -> Value
    ) throws -> Value {
        guard !isAtEnd else {
            throw state.end(of: Int(array), expecting: type, count: currentIndex, isSuper: isSuper)
        }
        let value = try body(Int(next))
        skip()
        return value
    }

    /// Decodes the next element with a closure unless it is null.
    @inline(__always)
    private mutating func decodeNextIfPresent<Value>(_ body: (_ index: Int) throws -> Value) throws -> Value? {
        guard !isAtEnd else {
            // Foundation increments the index here, too.
            currentIndex += 1
            return nil
        }
        let value = state.isNull(at: Int(next)) ? nil : try body(Int(next))
        skip()
        return value
    }

    @inline(__always)
    private mutating func skip() {
        next = state.fields.pointee.tape[Int(next)].next
        currentIndex += 1
    }
}

extension ArrayContainer: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { state.path(to: Int(array)) }

    var count: Int? { Int(token.count) }

    var isAtEnd: Bool { next >= token.next }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd else {
            throw state.end(of: Int(array), expecting: Never.self, count: currentIndex, isSuper: false)
        }
        guard state.isNull(at: Int(next)) else { return false }
        skip()
        return true
    }

    // MARK: Nested containers

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let state = state
        return try decodeNext(KeyedDecodingContainer<NestedKey>.self) {
            try ValueDecoder(state: state, index: $0).container(keyedBy: type)
        }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let state = state
        return try decodeNext((any UnkeyedDecodingContainer).self) {
            try ValueDecoder(state: state, index: $0).unkeyedContainer()
        }
    }

    mutating func superDecoder() throws -> any Decoder {
        let state = state
        return try decodeNext((any Decoder).self, isSuper: true) { ValueDecoder(state: state, index: $0) }
    }

    // MARK: Values

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let state = state
        return try decodeNext(type) { try state.decode(type, at: $0) }
    }

    mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        let state = state
        return try decodeNextIfPresent { try state.decode(type, at: $0) }
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        let state = state
        return try decodeNext(type) { try state.bool(at: $0) }
    }

    mutating func decodeIfPresent(_ type: Bool.Type) throws -> Bool? {
        let state = state
        return try decodeNextIfPresent { try state.bool(at: $0) }
    }

    mutating func decode(_ type: String.Type) throws -> String {
        let state = state
        return try decodeNext(type) { try state.string(at: $0) }
    }

    mutating func decodeIfPresent(_ type: String.Type) throws -> String? {
        let state = state
        return try decodeNextIfPresent { try state.string(at: $0) }
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        let state = state
        return try decodeNext(type) { try state.double(at: $0) }
    }

    mutating func decodeIfPresent(_ type: Double.Type) throws -> Double? {
        let state = state
        return try decodeNextIfPresent { try state.double(at: $0) }
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        let state = state
        return try decodeNext(type) { try state.float(at: $0) }
    }

    mutating func decodeIfPresent(_ type: Float.Type) throws -> Float? {
        let state = state
        return try decodeNextIfPresent { try state.float(at: $0) }
    }

    mutating func decode(_ type: Int.Type) throws -> Int {
        let state = state
        return try decodeNext(type) { try state.integer(type, at: $0) }
    }

    mutating func decodeIfPresent(_ type: Int.Type) throws -> Int? {
        let state = state
        return try decodeNextIfPresent { try state.integer(type, at: $0) }
    }

    mutating func decode(_ type: Int8.Type) throws -> Int8 {
        let state = state
        return try decodeNext(type) { try state.integer(type, at: $0) }
    }

    mutating func decodeIfPresent(_ type: Int8.Type) throws -> Int8? {
        let state = state
        return try decodeNextIfPresent { try state.integer(type, at: $0) }
    }

    mutating func decode(_ type: Int16.Type) throws -> Int16 {
        let state = state
        return try decodeNext(type) { try state.integer(type, at: $0) }
    }

    mutating func decodeIfPresent(_ type: Int16.Type) throws -> Int16? {
        let state = state
        return try decodeNextIfPresent { try state.integer(type, at: $0) }
    }

    mutating func decode(_ type: Int32.Type) throws -> Int32 {
        let state = state
        return try decodeNext(type) { try state.integer(type, at: $0) }
    }

    mutating func decodeIfPresent(_ type: Int32.Type) throws -> Int32? {
        let state = state
        return try decodeNextIfPresent { try state.integer(type, at: $0) }
    }

    mutating func decode(_ type: Int64.Type) throws -> Int64 {
        let state = state
        return try decodeNext(type) { try state.integer(type, at: $0) }
    }

    mutating func decodeIfPresent(_ type: Int64.Type) throws -> Int64? {
        let state = state
        return try decodeNextIfPresent { try state.integer(type, at: $0) }
    }

    mutating func decode(_ type: UInt.Type) throws -> UInt {
        let state = state
        return try decodeNext(type) { try state.integer(type, at: $0) }
    }

    mutating func decodeIfPresent(_ type: UInt.Type) throws -> UInt? {
        let state = state
        return try decodeNextIfPresent { try state.integer(type, at: $0) }
    }

    mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
        let state = state
        return try decodeNext(type) { try state.integer(type, at: $0) }
    }

    mutating func decodeIfPresent(_ type: UInt8.Type) throws -> UInt8? {
        let state = state
        return try decodeNextIfPresent { try state.integer(type, at: $0) }
    }

    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        let state = state
        return try decodeNext(type) { try state.integer(type, at: $0) }
    }

    mutating func decodeIfPresent(_ type: UInt16.Type) throws -> UInt16? {
        let state = state
        return try decodeNextIfPresent { try state.integer(type, at: $0) }
    }

    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        let state = state
        return try decodeNext(type) { try state.integer(type, at: $0) }
    }

    mutating func decodeIfPresent(_ type: UInt32.Type) throws -> UInt32? {
        let state = state
        return try decodeNextIfPresent { try state.integer(type, at: $0) }
    }

    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        let state = state
        return try decodeNext(type) { try state.integer(type, at: $0) }
    }

    mutating func decodeIfPresent(_ type: UInt64.Type) throws -> UInt64? {
        let state = state
        return try decodeNextIfPresent { try state.integer(type, at: $0) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func decode(_ type: Int128.Type) throws -> Int128 {
        let state = state
        return try decodeNext(type) { try state.integer(type, at: $0) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func decodeIfPresent(_ type: Int128.Type) throws -> Int128? {
        let state = state
        return try decodeNextIfPresent { try state.integer(type, at: $0) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
        let state = state
        return try decodeNext(type) { try state.integer(type, at: $0) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func decodeIfPresent(_ type: UInt128.Type) throws -> UInt128? {
        let state = state
        return try decodeNextIfPresent { try state.integer(type, at: $0) }
    }
}
