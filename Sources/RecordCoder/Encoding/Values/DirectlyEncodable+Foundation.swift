import Foundation

extension Date: DirectlyEncodable {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) throws {
        // A value of this type is there, as the protocol says; so in all implementations.
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
        // What Foundation makes of something that is no number is for Foundation to say.
        guard !value.isNaN else { return state.storage.pointee.giveUp() }
        var text = value.description
        text.withUTF8 { state.storage.pointee.output.append(contentsOf: UnsafeRawBufferPointer($0)) }
    }
}
