/// A type whose values are written directly, without an encoder and its containers.
///
/// The JSON is the same as Foundation's.
protocol DirectlyEncodable {
    /// Writes a value at the end of the output.
    ///
    /// - Parameters:
    ///   - address: The address of the value, which is initialized and of this type for the duration of the call.
    ///   - state: The state of the record. Nothing need be written if it has given up.
    ///   - depth: The number of enclosing frames.
    /// - Throws: Errors of values within the value, and an `EncodingError` if the value has no JSON representation. In
    ///   each case the record falls back to Foundation.
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) throws
}

extension EncodingState {
    /// The type as a ``DirectlyEncodable`` type, or `nil` if its values encode themselves.
    @inline(__always)
    func direct(_ type: any Any.Type) -> (any DirectlyEncodable.Type)? {
        storage.pointee.directTypes.fact(about: type) { type as? any DirectlyEncodable.Type }
    }

    /// Writes any value at the end of the output.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - depth: The number of enclosing frames.
    /// - Throws: Errors of the value or a value within it. The record falls back to Foundation then.
    @inline(__always)
    func write<Value: Encodable>(_ value: Value, depth: Int) throws {
        if let direct = direct(Value.self) {
            // The value at the address has the type for which `direct` was found.
            try withUnsafePointer(to: value) { try direct.write(UnsafeRawPointer($0), to: self, depth: depth) }
        } else {
            try writeByItself(value, depth: depth)
        }
    }

    /// Lets a value encode itself at the end of the output.
    func writeByItself<Value: Encodable>(_ value: Value, depth: Int) throws {
        let start = storage.pointee.output.count
        let position = storage.pointee.position(at: depth - 1)
        do {
            try value.encode(to: ValueEncoder(state: self, depth: depth, start: start))
        } catch {
            // Give up even if an outer value catches the error: Foundation decides what remains of such a value.
            storage.pointee.giveUp()
            throw error
        }
        storage.pointee.endValue(depth: depth, start: start)
        // The value has written to its enclosing container or ended it. Foundation decides on its position.
        if storage.pointee.position(at: depth - 1) != position { storage.pointee.giveUp() }
    }

    /// Writes the value at an address, directly if `direct` is given.
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
