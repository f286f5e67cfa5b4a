extension Array: TapeDecodable where Element: Decodable {
    static func decode(at index: Int, from state: DecodingState) throws -> [Element] {
        let array = try state.array(at: index, as: Self.self)
        var elements: [Element] = []
        elements.reserveCapacity(Int(array.count))
        let end = Int(array.next)
        var next = index + 1
        while next < end {
            elements.append(try state.decode(Element.self, at: next))
            next = Int(state.fields.pointee.tape[next].next)
        }
        return elements
    }
}

extension Dictionary: TapeDecodable where Key == String, Value: Decodable {
    static func decode(at index: Int, from state: DecodingState) throws -> [String: Value] {
        let object = try state.object(at: index, as: Self.self)
        var members: [String: Value] = [:]
        members.reserveCapacity(Int(object.count))
        try state.forEachMember(of: index) { name, value in
            let replaced = members.updateValue(
                try state.decode(Value.self, at: value),
                forKey: state.string(of: state.fields.pointee.tape[name])
            )
            // The first of several with the same name counts.
            if replaced != nil { state.fields.pointee.isForFoundation = true }
        }
        return members
    }
}

extension Optional: TapeDecodable where Wrapped: Decodable {
    static func decode(at index: Int, from state: DecodingState) throws -> Wrapped? {
        state.isNull(at: index) ? nil : try state.decode(Wrapped.self, at: index)
    }
}
