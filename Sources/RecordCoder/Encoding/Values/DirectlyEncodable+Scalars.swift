extension String: DirectlyEncodable {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) {
        // The protocol guarantees an initialized value of this type, here and in all implementations below.
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

// Only integers of up to 64 bits: the default implementations above would truncate larger ones.
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
