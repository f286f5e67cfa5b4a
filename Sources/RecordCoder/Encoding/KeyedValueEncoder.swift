/// Writes the members of an object.
struct KeyedValueEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let state: EncodingState
    /// The depth of the object's frame.
    let depth: Int
    /// The offset at which the object starts.
    let start: Int

    var codingPath: [any CodingKey] { state.storage.pointee.codingPath(depth: depth, start: start) }

    func encodeNil(forKey key: Key) {
        if begin(key) { state.storage.pointee.output.appendNull() }
    }

    func encode(_ value: Bool, forKey key: Key) {
        if begin(key) { state.storage.pointee.output.append(value) }
    }

    func encode(_ value: String, forKey key: Key) {
        if begin(key) { state.storage.pointee.output.append(value) }
    }

    func encode(_ value: Double, forKey key: Key) throws {
        if begin(key) { try state.write(value, depth: depth + 1) }
    }

    func encode(_ value: Float, forKey key: Key) throws {
        if begin(key) { try state.write(value, depth: depth + 1) }
    }

    func encode(_ value: Int, forKey key: Key) { encodeInteger(Int64(value), forKey: key) }
    func encode(_ value: Int8, forKey key: Key) { encodeInteger(Int64(value), forKey: key) }
    func encode(_ value: Int16, forKey key: Key) { encodeInteger(Int64(value), forKey: key) }
    func encode(_ value: Int32, forKey key: Key) { encodeInteger(Int64(value), forKey: key) }
    func encode(_ value: Int64, forKey key: Key) { encodeInteger(value, forKey: key) }
    func encode(_ value: UInt, forKey key: Key) { encodeInteger(UInt64(value), forKey: key) }
    func encode(_ value: UInt8, forKey key: Key) { encodeInteger(UInt64(value), forKey: key) }
    func encode(_ value: UInt16, forKey key: Key) { encodeInteger(UInt64(value), forKey: key) }
    func encode(_ value: UInt32, forKey key: Key) { encodeInteger(UInt64(value), forKey: key) }
    func encode(_ value: UInt64, forKey key: Key) { encodeInteger(value, forKey: key) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: Int128, forKey key: Key) {
        if begin(key) { state.storage.pointee.output.append(number: value) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: UInt128, forKey key: Key) {
        if begin(key) { state.storage.pointee.output.append(number: value) }
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if begin(key) { try state.write(value, depth: depth + 1) }
    }

    // These do the same as the standard library's default implementations, but are faster.

    func encodeIfPresent(_ value: Bool?, forKey key: Key) {
        if let value { encode(value, forKey: key) }
    }

    func encodeIfPresent(_ value: String?, forKey key: Key) {
        if let value { encode(value, forKey: key) }
    }

    func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }

    func encodeIfPresent(_ value: Int?, forKey key: Key) {
        if let value { encode(value, forKey: key) }
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }

    @inline(__always)
    private func encodeInteger(_ value: Int64, forKey key: Key) {
        if begin(key) { state.storage.pointee.output.append(value) }
    }

    @inline(__always)
    private func encodeInteger(_ value: UInt64, forKey key: Key) {
        if begin(key) { state.storage.pointee.output.append(value) }
    }

    /// Writes the key of the next member.
    ///
    /// - Returns: Whether its value can be written now; if not, the record falls back to Foundation.
    @inline(__always)
    func begin(_ key: Key) -> Bool {
        let text = key.stringValue
        switch state.storage.pointee.writeKnownKey(text, depth: depth, start: start) {
        case .written: return true
        case .refused: return false
        case .unknown:
            // Only keep keys that hold no references, so that none keeps an object alive.
            let kept: (any CodingKey)? = _isPOD(Key.self) ? key : nil
            return state.storage.pointee.writeUnknownKey(text, key: kept, depth: depth)
        }
    }
}
