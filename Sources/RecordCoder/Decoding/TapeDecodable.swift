/// A type that is decoded without its `init(from:)`, because Foundation treats it specially, or because generic
/// containers would cost more than decoding the value.
protocol TapeDecodable {
    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - index: The value's token.
    ///   - state: The state that holds the token.
    static func decode(at index: Int, from state: DecodingState) throws -> Self

    /// Decodes the elements of an array.
    ///
    /// No type overrides the default. It is a requirement so that the compiler specializes it for each type.
    ///
    /// - Parameters:
    ///   - array: The array's token.
    ///   - state: The state that holds the token.
    static func decodeElements(of array: Int, from state: DecodingState) throws -> [Self]

    /// Decodes the members of an object. See ``decodeElements(of:from:)``.
    static func decodeMembers(of object: Int, from state: DecodingState) throws -> [String: Self]
}

extension TapeDecodable {
    static func decodeElements(of array: Int, from state: DecodingState) throws -> [Self] {
        var elements: [Self] = []
        elements.reserveCapacity(Int(state.fields.pointee.tape[array].count))
        try state.forEachElement(of: array) { elements.append(try decode(at: $0, from: state)) }
        return elements
    }

    static func decodeMembers(of object: Int, from state: DecodingState) throws -> [String: Self] {
        try state.members(of: object) { try decode(at: $0, from: state) }
    }
}

extension DecodingState {

    /// The type as a ``TapeDecodable`` type, or `nil` if it is decoded by its `init(from:)`.
    @inline(__always)
    func decodable<Value>(_ type: Value.Type) -> (any TapeDecodable.Type)? {
        // A cast that checks conditional conformances is slow.
        fields.pointee.types.fact(about: type) { type as? any TapeDecodable.Type }
    }

    func decode<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
        guard let decodable = decodable(type) else {
            return try Value(from: ValueDecoder(state: self, index: index))
        }
        return try decode(decodable, as: type, at: index)
    }

    /// Decodes a value of a type that is given twice: as a ``TapeDecodable`` type and as the caller's type.
    @inline(__always)
    private func decode<Known: TapeDecodable, Value>(
        _: Known.Type,
        as type: Value.Type,
        at index: Int
    ) throws -> Value {
        // Both are the same type.
        unsafeBitCast(try Known.decode(at: index, from: self), to: type)
    }

    /// Decodes the elements of an array whose type is given twice.
    func decodeElements<Known: TapeDecodable, Element>(
        _: Known.Type,
        as type: Element.Type,
        of array: Int
    ) throws -> [Element] {
        // Both are the same type.
        unsafeBitCast(try Known.decodeElements(of: array, from: self), to: [Element].self)
    }

    /// Decodes the members of an object whose type is given twice.
    func decodeMembers<Known: TapeDecodable, Value>(
        _: Known.Type,
        as type: Value.Type,
        of object: Int
    ) throws -> [String: Value] {
        // Both are the same type.
        unsafeBitCast(try Known.decodeMembers(of: object, from: self), to: [String: Value].self)
    }

    /// Decodes the members of an object with a closure.
    @inline(__always)
    func members<Value>(of object: Int, _ decode: (Int) throws -> Value) throws -> [String: Value] {
        let token = fields.pointee.tape[object]
        var members: [String: Value] = [:]
        members.reserveCapacity(Int(token.count))
        try forEachMember(of: object) { name, value in
            let name = string(of: fields.pointee.tape[name])
            // If several members have the same name, only the first one is decoded.
            if token.isIrregular, members.index(forKey: name) != nil { return }
            members.updateValue(try decode(value), forKey: name)
        }
        return members
    }
}
