extension KeyedValueEncoder {
    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        nestedEncoder(forKey: key).nestedContainer(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nestedEncoder(forKey: key).nestedUnkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        let text = PathKey.super.stringValue
        switch state.storage.pointee.writeKnownKey(text, depth: depth, start: start) {
        case .written, .refused: break
        case .unknown: _ = state.storage.pointee.writeUnknownKey(text, key: PathKey.super, depth: depth)
        }
        return memberEncoder
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        nestedEncoder(forKey: key)
    }

    /// Writes a key and makes the encoder of its value. If the key can't be written, the encoder is inert.
    private func nestedEncoder(forKey key: Key) -> ValueEncoder {
        _ = begin(key)
        return memberEncoder
    }

    /// The encoder of the value of the key that was just written.
    private var memberEncoder: ValueEncoder {
        ValueEncoder(state: state, depth: depth + 1, start: state.storage.pointee.output.count)
    }
}
