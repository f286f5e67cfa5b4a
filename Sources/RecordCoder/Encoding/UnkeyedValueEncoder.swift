/// Writes the elements of an array.
///
/// It has three words, so that an `any UnkeyedEncodingContainer` holds it without an allocation.
struct UnkeyedValueEncoder: UnkeyedEncodingContainer {
    let state: EncodingState
    /// The offset at which the array starts.
    let start: Int
    /// The depth of the array's frame, at most ``EncodingStorage/depthLimit``.
    private let level: Int32
    /// The number of elements that were skipped because the record falls back to Foundation.
    ///
    /// A value may add elements until the array has a certain count, so skipped elements count, too.
    private var unwrittenCount: Int32 = 0

    /// Makes a container for the array of a frame.
    init(state: EncodingState, depth: Int, start: Int) {
        self.state = state
        self.start = start
        level = Int32(truncatingIfNeeded: depth)
    }

    /// The depth of the array's frame.
    @inline(__always)
    private var depth: Int { Int(level) }

    var codingPath: [any CodingKey] { state.storage.pointee.codingPath(depth: depth, start: start) }

    var count: Int {
        let storage = state.storage
        // In bounds: the frame is open.
        guard storage.pointee.isOpen(depth: depth, start: start) else {
            storage.pointee.giveUp()
            return Int(unwrittenCount)
        }
        return storage.pointee.frames[depth].position
    }

    mutating func encodeNil() {
        if begin() { state.storage.pointee.output.appendNull() }
    }

    mutating func encode(_ value: Bool) {
        if begin() { state.storage.pointee.output.append(value) }
    }

    mutating func encode(_ value: String) {
        if begin() { state.storage.pointee.output.append(value) }
    }

    mutating func encode(_ value: Double) throws {
        if begin() { try state.write(value, depth: depth + 1) }
    }

    mutating func encode(_ value: Float) throws {
        if begin() { try state.write(value, depth: depth + 1) }
    }

    mutating func encode(_ value: Int) { encodeInteger(Int64(value)) }
    mutating func encode(_ value: Int8) { encodeInteger(Int64(value)) }
    mutating func encode(_ value: Int16) { encodeInteger(Int64(value)) }
    mutating func encode(_ value: Int32) { encodeInteger(Int64(value)) }
    mutating func encode(_ value: Int64) { encodeInteger(value) }
    mutating func encode(_ value: UInt) { encodeInteger(UInt64(value)) }
    mutating func encode(_ value: UInt8) { encodeInteger(UInt64(value)) }
    mutating func encode(_ value: UInt16) { encodeInteger(UInt64(value)) }
    mutating func encode(_ value: UInt32) { encodeInteger(UInt64(value)) }
    mutating func encode(_ value: UInt64) { encodeInteger(value) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func encode(_ value: Int128) {
        if begin() { state.storage.pointee.output.append(number: value) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    mutating func encode(_ value: UInt128) {
        if begin() { state.storage.pointee.output.append(number: value) }
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        if begin() { try state.write(value, depth: depth + 1) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        nestedEncoder().nestedContainer(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        nestedEncoder().nestedUnkeyedContainer()
    }

    /// Falls back to Foundation. Its encoder inserts the element when the last reference to the super encoder goes
    /// away, so the order of elements depends on the lifetime of variables.
    mutating func superEncoder() -> any Encoder {
        state.storage.pointee.giveUp()
        return nestedEncoder()
    }

    /// Prepares the array for the next element and makes the element's encoder, which is inert if that fails.
    private mutating func nestedEncoder() -> ValueEncoder {
        _ = begin()
        return ValueEncoder(state: state, depth: depth + 1, start: state.storage.pointee.output.count)
    }

    @inline(__always)
    private mutating func encodeInteger(_ value: Int64) {
        if begin() { state.storage.pointee.output.append(value) }
    }

    @inline(__always)
    private mutating func encodeInteger(_ value: UInt64) {
        if begin() { state.storage.pointee.output.append(value) }
    }

    /// Prepares the array for the next element.
    ///
    /// - Returns: Whether it can be written now; if not, the record falls back to Foundation.
    @inline(__always)
    private mutating func begin() -> Bool {
        if state.storage.pointee.beginElement(depth: depth, start: start) { return true }
        unwrittenCount &+= 1
        return false
    }
}
