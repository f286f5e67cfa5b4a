/// Decodes the members of an object.
struct ObjectContainer<Key: CodingKey> {
    let state: DecodingState
    /// The object's token.
    let object: Int

    /// The value of a member.
    ///
    /// - Throws: `DecodingError.keyNotFound`
    @inline(__always)
    private func member(_ key: Key) throws -> Int {
        if let index = state.member(key.stringValue, of: object, advances: true) { return index }
        throw state.absence(of: key, in: object)
    }

    /// The value of a member, or `nil` if it is missing or null.
    @inline(__always)
    private func presentMember(_ key: Key) -> Int? {
        guard let index = state.member(key.stringValue, of: object, advances: true) else { return nil }
        return state.isNull(at: index) ? nil : index
    }

    /// Remembers a member's key if coding paths can't derive it from the member's name.
    @inline(__always)
    private func note(_ key: some CodingKey, at index: Int) {
        // The key has a number, or its spelling may differ from the name's.
        if key.intValue != nil || state.fields.pointee.tape[object].isIrregular {
            state.fields.pointee.keys[index] = key
        } else if !state.fields.pointee.keys.isEmpty {
            // Another key may have been used before.
            state.fields.pointee.keys[index] = nil
        }
    }

    @inline(__always)
    private func scalar<Value>(_ key: Key, _ decode: (Int) throws -> Value) throws -> Value {
        let index = try member(key)
        do {
            return try decode(index)
        } catch {
            throw state.error(error, in: object, at: key)
        }
    }

    /// Decodes a scalar unless it is missing or null.
    @inline(__always)
    private func scalarIfPresent<Value>(_ key: Key, _ decode: (Int) throws -> Value) throws -> Value? {
        guard let index = presentMember(key) else { return nil }
        do {
            return try decode(index)
        } catch {
            throw state.error(error, in: object, at: key)
        }
    }

    /// A decoder for the value of a member.
    private func decoder(_ key: Key) throws -> ValueDecoder {
        let index = try member(key)
        note(key, at: index)
        return ValueDecoder(state: state, index: index)
    }
}

extension ObjectContainer: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey] { state.path(to: object) }

    var allKeys: [Key] { state.names(of: object).compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { state.member(key.stringValue, of: object, advances: false) != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        guard let index = state.member(key.stringValue, of: object, advances: false) else {
            throw state.absence(of: key, in: object)
        }
        return state.isNull(at: index)
    }

    // MARK: Nested containers

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { superDecoder(at: PathKey.super) }

    func superDecoder(forKey key: Key) -> any Decoder { superDecoder(at: key) }

    private func superDecoder(at key: some CodingKey) -> any Decoder {
        if let index = state.member(key.stringValue, of: object, advances: true) {
            note(key, at: index)
            return ValueDecoder(state: state, index: index)
        }
        // Only Foundation knows the coding path of a null that is not in the text.
        state.fields.pointee.isForFoundation = true
        return ValueDecoder(state: state, index: 0)
    }

    // MARK: Values

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let index = try member(key)
        note(key, at: index)
        return try state.decode(type, at: index)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let index = presentMember(key) else { return nil }
        note(key, at: index)
        return try state.decode(type, at: index)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try scalar(key) { try state.bool(at: $0) } }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try scalarIfPresent(key) { try state.bool(at: $0) }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String { try scalar(key) { try state.string(at: $0) } }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try scalarIfPresent(key) { try state.string(at: $0) }
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try scalar(key) { try state.double(at: $0) } }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try scalarIfPresent(key) { try state.double(at: $0) }
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try scalar(key) { try state.float(at: $0) } }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try scalarIfPresent(key) { try state.float(at: $0) }
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try scalar(key) { try state.integer(type, at: $0) } }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try scalarIfPresent(key) { try state.integer(type, at: $0) }
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try scalar(key) { try state.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try scalarIfPresent(key) { try state.integer(type, at: $0) }
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try scalar(key) { try state.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try scalarIfPresent(key) { try state.integer(type, at: $0) }
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try scalar(key) { try state.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try scalarIfPresent(key) { try state.integer(type, at: $0) }
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try scalar(key) { try state.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try scalarIfPresent(key) { try state.integer(type, at: $0) }
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try scalar(key) { try state.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try scalarIfPresent(key) { try state.integer(type, at: $0) }
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try scalar(key) { try state.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try scalarIfPresent(key) { try state.integer(type, at: $0) }
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try scalar(key) { try state.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try scalarIfPresent(key) { try state.integer(type, at: $0) }
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try scalar(key) { try state.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try scalarIfPresent(key) { try state.integer(type, at: $0) }
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try scalar(key) { try state.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try scalarIfPresent(key) { try state.integer(type, at: $0) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        try scalar(key) { try state.integer(type, at: $0) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        try scalarIfPresent(key) { try state.integer(type, at: $0) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        try scalar(key) { try state.integer(type, at: $0) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        try scalarIfPresent(key) { try state.integer(type, at: $0) }
    }
}
