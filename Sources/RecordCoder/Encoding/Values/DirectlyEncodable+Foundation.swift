import Foundation

extension Date: DirectlyEncodable {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) throws {
        // The protocol guarantees an initialized value of this type, here and in all implementations below.
        let date = address.assumingMemoryBound(to: Self.self).pointee
        try state.write(date.timeIntervalSinceReferenceDate, depth: depth)
    }
}

extension UUID: DirectlyEncodable {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) {
        state.storage.pointee.output.append(address.assumingMemoryBound(to: Self.self).pointee)
    }
}

extension URL: DirectlyEncodable {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) {
        state.storage.pointee.output.append(address.assumingMemoryBound(to: Self.self).pointee.absoluteString)
    }
}

extension Data: DirectlyEncodable {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) {
        address.assumingMemoryBound(to: Self.self).pointee.withUnsafeBytes { bytes in
            state.storage.pointee.output.append(base64: bytes)
        }
    }
}

extension Decimal: DirectlyEncodable {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) {
        let value = address.assumingMemoryBound(to: Self.self).pointee
        // Foundation decides how to encode NaN.
        guard !value.isNaN else { return state.storage.pointee.giveUp() }
        var text = value.description
        text.withUTF8 { state.storage.pointee.output.append(contentsOf: UnsafeRawBufferPointer($0)) }
    }
}
