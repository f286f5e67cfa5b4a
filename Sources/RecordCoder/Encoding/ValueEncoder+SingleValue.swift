extension ValueEncoder: SingleValueEncodingContainer {
    func encodeNil() {
        if claim() { state.storage.pointee.output.appendNull() }
    }

    func encode(_ value: Bool) {
        if claim() { state.storage.pointee.output.append(value) }
    }

    func encode(_ value: String) {
        if claim() { state.storage.pointee.output.append(value) }
    }

    func encode(_ value: Double) throws {
        if claim() { try state.write(value, depth: depth) }
    }

    func encode(_ value: Float) throws {
        if claim() { try state.write(value, depth: depth) }
    }

    func encode(_ value: Int) { encodeInteger(Int64(value)) }
    func encode(_ value: Int8) { encodeInteger(Int64(value)) }
    func encode(_ value: Int16) { encodeInteger(Int64(value)) }
    func encode(_ value: Int32) { encodeInteger(Int64(value)) }
    func encode(_ value: Int64) { encodeInteger(value) }
    func encode(_ value: UInt) { encodeInteger(UInt64(value)) }
    func encode(_ value: UInt8) { encodeInteger(UInt64(value)) }
    func encode(_ value: UInt16) { encodeInteger(UInt64(value)) }
    func encode(_ value: UInt32) { encodeInteger(UInt64(value)) }
    func encode(_ value: UInt64) { encodeInteger(value) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: Int128) {
        if claim() { state.storage.pointee.output.append(number: value) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: UInt128) {
        if claim() { state.storage.pointee.output.append(number: value) }
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        if claim() { try state.write(value, depth: depth) }
    }

    /// Checks that the value can be written; if not, the record falls back to Foundation.
    @inline(__always)
    private func claim() -> Bool {
        state.storage.pointee.claim(depth: depth, start: start)
    }

    @inline(__always)
    private func encodeInteger(_ value: Int64) {
        if claim() { state.storage.pointee.output.append(value) }
    }

    @inline(__always)
    private func encodeInteger(_ value: UInt64) {
        if claim() { state.storage.pointee.output.append(value) }
    }
}
