/// A type that is decoded without its `init(from:)`: because Foundation treats it in its own way, or because the detour over
/// generic containers costs more than the value.
protocol TapeDecodable {
    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - index: The value's token.
    ///   - state: Where the token is.
    static func decode(at index: Int, from state: DecodingState) throws -> Self

    /// Decodes the elements of an array.
    ///
    /// It has the default implementation everywhere. It is a requirement so that each type has code of its own for it.
    ///
    /// - Parameters:
    ///   - array: The array's token.
    ///   - state: Where the token is.
    static func decodeElements(of array: Int, from state: DecodingState) throws -> [Self]

    /// Decodes the members of an object, as ``decodeElements(of:from:)``.
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

    /// The type as what is decoded without its `init(from:)`, if it is that.
    @inline(__always)
    func decodable<Value>(_ type: Value.Type) -> (any TapeDecodable.Type)? {
        // A cast that has to look at conditional conformances is slow.
        fields.pointee.types.fact(about: type) { type as? any TapeDecodable.Type }
    }

    /// Decodes a value of any type.
    func decode<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
        guard let decodable = decodable(type) else {
            return try Value(from: ValueDecoder(state: self, index: index))
        }
        return try decode(decodable, as: type, at: index)
    }

    /// Decodes a value of a type that is known twice, as what it conforms to and as what the caller calls it.
    @inline(__always)
    private func decode<Known: TapeDecodable, Value>(
        _: Known.Type,
        as type: Value.Type,
        at index: Int
    ) throws -> Value {
        // Both are the same type.
        unsafeBitCast(try Known.decode(at: index, from: self), to: type)
    }

    /// Decodes the elements of an array whose type is known twice.
    func decodeElements<Known: TapeDecodable, Element>(
        _: Known.Type,
        as type: Element.Type,
        of array: Int
    ) throws -> [Element] {
        // Both are the same type.
        unsafeBitCast(try Known.decodeElements(of: array, from: self), to: [Element].self)
    }

    /// Decodes the members of an object whose type is known twice.
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
            // Of several with the same name the first one counts, and the others aren't even looked at.
            if token.isIrregular, members.index(forKey: name) != nil { return }
            members.updateValue(try decode(value), forKey: name)
        }
        return members
    }
}
