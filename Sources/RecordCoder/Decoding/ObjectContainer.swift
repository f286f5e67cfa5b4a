/// The members of an object.
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

    /// The value of a member that is there and isn't null.
    @inline(__always)
    private func presentMember(_ key: Key) -> Int? {
        guard let index = state.member(key.stringValue, of: object, advances: true) else { return nil }
        return state.isNull(at: index) ? nil : index
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
        try ValueDecoder(state: state, index: member(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try ValueDecoder(state: state, index: member(key)).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { decoder(forMember: PathKey.super.stringValue) }

    func superDecoder(forKey key: Key) -> any Decoder { decoder(forMember: key.stringValue) }

    private func decoder(forMember name: String) -> any Decoder {
        if let index = state.member(name, of: object, advances: true) {
            return ValueDecoder(state: state, index: index)
        }
        // Of a null that is nowhere, only Foundation knows the coding path.
        state.fields.pointee.isForFoundation = true
        return ValueDecoder(state: state, index: 0)
    }

    // MARK: Values

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try state.decode(type, at: member(key))
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try presentMember(key).map { try state.decode(type, at: $0) }
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try state.bool(at: member(key)) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try presentMember(key).map { try state.bool(at: $0) }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String { try state.string(at: member(key)) }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try presentMember(key).map { try state.string(at: $0) }
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try state.double(at: member(key)) }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try presentMember(key).map { try state.double(at: $0) }
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try state.float(at: member(key)) }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try presentMember(key).map { try state.float(at: $0) }
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try state.integer(type, at: member(key)) }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try presentMember(key).map { try state.integer(type, at: $0) }
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try state.integer(type, at: member(key)) }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try presentMember(key).map { try state.integer(type, at: $0) }
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try state.integer(type, at: member(key)) }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try presentMember(key).map { try state.integer(type, at: $0) }
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try state.integer(type, at: member(key)) }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try presentMember(key).map { try state.integer(type, at: $0) }
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try state.integer(type, at: member(key)) }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try presentMember(key).map { try state.integer(type, at: $0) }
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try state.integer(type, at: member(key)) }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try presentMember(key).map { try state.integer(type, at: $0) }
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try state.integer(type, at: member(key)) }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try presentMember(key).map { try state.integer(type, at: $0) }
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try state.integer(type, at: member(key)) }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try presentMember(key).map { try state.integer(type, at: $0) }
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try state.integer(type, at: member(key)) }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try presentMember(key).map { try state.integer(type, at: $0) }
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try state.integer(type, at: member(key)) }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try presentMember(key).map { try state.integer(type, at: $0) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try state.integer(type, at: member(key)) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        try presentMember(key).map { try state.integer(type, at: $0) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try state.integer(type, at: member(key)) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        try presentMember(key).map { try state.integer(type, at: $0) }
    }
}
