extension Array: TapeDecodable where Element: Decodable {
    static func decode(at index: Int, from state: DecodingState) throws -> [Element] {
        _ = try state.array(at: index, as: Self.self)
        if let decodable = state.decodable(Element.self) {
            return try state.decodeElements(decodable, as: Element.self, of: index)
        }
        var elements: [Element] = []
        elements.reserveCapacity(Int(state.fields.pointee.tape[index].count))
        try state.forEachElement(of: index) {
            elements.append(try Element(from: ValueDecoder(state: state, index: $0)))
        }
        return elements
    }
}

extension Dictionary: TapeDecodable where Key == String, Value: Decodable {
    static func decode(at index: Int, from state: DecodingState) throws -> [String: Value] {
        _ = try state.object(at: index, as: Self.self)
        if let decodable = state.decodable(Value.self) {
            return try state.decodeMembers(decodable, as: Value.self, of: index)
        }
        return try state.members(of: index) { try Value(from: ValueDecoder(state: state, index: $0)) }
    }
}

extension Optional: TapeDecodable where Wrapped: Decodable {
    static func decode(at index: Int, from state: DecodingState) throws -> Wrapped? {
        state.isNull(at: index) ? nil : try state.decode(Wrapped.self, at: index)
    }
}
