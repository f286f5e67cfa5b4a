extension String: DirectlyEncodable {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) {
        // A value of this type is there, as the protocol says; so in all implementations.
        state.storage.pointee.output.append(address.assumingMemoryBound(to: Self.self).pointee)
    }
}

extension Bool: DirectlyEncodable {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) {
        state.storage.pointee.output.append(address.assumingMemoryBound(to: Self.self).pointee)
    }
}

extension DirectlyEncodable where Self: FixedWidthInteger & SignedInteger {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) {
        let value = address.assumingMemoryBound(to: Self.self).pointee
        state.storage.pointee.output.append(Int64(truncatingIfNeeded: value))
    }
}

extension DirectlyEncodable where Self: FixedWidthInteger & UnsignedInteger {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) {
        let value = address.assumingMemoryBound(to: Self.self).pointee
        state.storage.pointee.output.append(UInt64(truncatingIfNeeded: value))
    }
}

// Only integers of up to 64 bits: the defaults above would cut off larger ones.
extension Int: DirectlyEncodable {}
extension Int8: DirectlyEncodable {}
extension Int16: DirectlyEncodable {}
extension Int32: DirectlyEncodable {}
extension Int64: DirectlyEncodable {}
extension UInt: DirectlyEncodable {}
extension UInt8: DirectlyEncodable {}
extension UInt16: DirectlyEncodable {}
extension UInt32: DirectlyEncodable {}
extension UInt64: DirectlyEncodable {}

extension Double: DirectlyEncodable {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) throws {
        try state.write(address.assumingMemoryBound(to: Self.self).pointee, depth: depth)
    }
}

extension Float: DirectlyEncodable {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) throws {
        try state.write(address.assumingMemoryBound(to: Self.self).pointee, depth: depth)
    }
}

extension EncodingState {
    /// Writes a number, if it is finite.
    @inline(__always)
    func write(_ value: Double, depth: Int) throws {
        guard value.isFinite else { throw notRepresentable(value, named: "Double", depth: depth) }
        storage.pointee.output.append(value)
    }

    /// Writes a number, if it is finite.
    @inline(__always)
    func write(_ value: Float, depth: Int) throws {
        guard value.isFinite else { throw notRepresentable(value, named: "Float", depth: depth) }
        storage.pointee.output.append(value)
    }

    /// The error for a number that is not finite, for values that catch it; the caller gets Foundation's.
    @inline(never)
    private func notRepresentable(_ value: some BinaryFloatingPoint, named type: String, depth: Int) -> EncodingError {
        let path = storage.pointee.codingPath(depth: depth, start: storage.pointee.output.count)
        storage.pointee.giveUp()
        let description = "Unable to encode \(type).\(value) directly in JSON."
        return .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: description))
    }
}
