/// A type whose values are written directly, without the detour of an encoder and its containers.
///
/// What is written is what Foundation's encoder writes for the type.
protocol DirectlyEncodable {
    /// Writes a value in the place of the next one.
    ///
    /// - Parameters:
    ///   - address: Where the value is: an initialized value of this type, for as long as the call lasts.
    ///   - state: What to write to. Nothing has to be written if it has given up.
    ///   - depth: How many frames the value lies in.
    /// - Throws: What a value within it throws, and an `EncodingError` if the value has no JSON. In each case the record
    ///   is left to Foundation.
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) throws
}

extension EncodingState {
    /// How a type is encoded directly; `nil` if it encodes itself with an encoder.
    @inline(__always)
    func direct(_ type: any Any.Type) -> (any DirectlyEncodable.Type)? {
        storage.pointee.directTypes.fact(about: type) { type as? any DirectlyEncodable.Type }
    }

    /// Writes any value in the place of the next one.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - depth: How many frames it lies in.
    /// - Throws: What the value or one within it throws. The record is left to Foundation then.
    @inline(__always)
    func write<Value: Encodable>(_ value: Value, depth: Int) throws {
        if let direct = direct(Value.self) {
            // The address is that of a value of the type that `direct` was found for.
            try withUnsafePointer(to: value) { try direct.write(UnsafeRawPointer($0), to: self, depth: depth) }
        } else {
            try writeByItself(value, depth: depth)
        }
    }

    /// Lets a value encode itself in the place of the next one.
    func writeByItself<Value: Encodable>(_ value: Value, depth: Int) throws {
        let start = storage.pointee.output.count
        let position = storage.pointee.position(at: depth - 1)
        do {
            try value.encode(to: ValueEncoder(state: self, depth: depth, start: start))
        } catch {
            // Even if somebody catches the error: what Foundation keeps of such a value is for Foundation to say.
            storage.pointee.giveUp()
            throw error
        }
        storage.pointee.endValue(depth: depth, start: start)
        // It has written to what it stands in, or even ended that: where Foundation then puts it is for Foundation to say.
        if storage.pointee.position(at: depth - 1) != position { storage.pointee.giveUp() }
    }

    /// Writes a value with an address, whose type is encoded directly if that is given.
    @inline(__always)
    func write<Value: Encodable>(
        _ address: UnsafePointer<Value>, direct: (any DirectlyEncodable.Type)?, depth: Int
    ) throws {
        if let direct {
            try direct.write(UnsafeRawPointer(address), to: self, depth: depth)
        } else {
            try writeByItself(address.pointee, depth: depth)
        }
    }
}
