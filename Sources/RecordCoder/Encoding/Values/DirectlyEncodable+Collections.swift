extension Optional: DirectlyEncodable where Wrapped: Encodable {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) throws {
        // The protocol guarantees an initialized value of this type, here and in all implementations below.
        switch address.assumingMemoryBound(to: Self.self).pointee {
        case .none: state.storage.pointee.output.appendNull()
        case .some(let wrapped): try state.write(wrapped, depth: depth)
        }
    }
}

extension Array: DirectlyEncodable where Element: Encodable {
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) throws {
        let storage = state.storage
        let start = storage.pointee.output.count
        guard storage.pointee.beginFrame(.array, depth: depth, isDirect: true) else { return }
        let direct = state.direct(Element.self)
        try address.assumingMemoryBound(to: Self.self).pointee.withUnsafeBufferPointer { elements in
            guard let first = elements.baseAddress else { return }
            for index in 0..<elements.count {
                // An element may write to an outer container and thereby end this frame.
                guard storage.pointee.beginElement(depth: depth, start: start) else { return }
                // In bounds: index < elements.count.
                try state.write(first + index, direct: direct, depth: depth + 1)
            }
        }
        storage.pointee.endCollection(depth: depth, start: start)
    }
}

extension Dictionary: DirectlyEncodable where Key: Encodable, Value: Encodable {
    /// Writes a dictionary with string keys as an object. Any other dictionary encodes itself.
    static func write(_ address: UnsafeRawPointer, to state: EncodingState, depth: Int) throws {
        guard Key.self == String.self else {
            return try state.writeByItself(address.assumingMemoryBound(to: Self.self).pointee, depth: depth)
        }
        // Key is String, so both are the same type.
        try writeEntries(of: address.assumingMemoryBound(to: [String: Value].self).pointee, to: state, depth: depth)
    }

    private static func writeEntries(of entries: [String: Value], to state: EncodingState, depth: Int) throws {
        let storage = state.storage
        let start = storage.pointee.output.count
        guard storage.pointee.beginFrame(.object, depth: depth, isDirect: true) else { return }
        let direct = state.direct(Value.self)
        for (key, value) in entries {
            // A value may write to an outer container and thereby end this frame.
            guard storage.pointee.select(depth: depth, start: start) else { return }
            storage.pointee.writeDictionaryKey(key, depth: depth)
            try withUnsafePointer(to: value) { try state.write($0, direct: direct, depth: depth + 1) }
        }
        storage.pointee.endCollection(depth: depth, start: start)
    }
}

extension EncodingStorage {
    /// Ends an array or dictionary that is written directly.
    fileprivate mutating func endCollection(depth: Int, start: Int) {
        if select(depth: depth, start: start) { endFrame() }
    }
}
