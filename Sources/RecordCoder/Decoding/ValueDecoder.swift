/// Decodes one value of a tape. It is small enough to be stored in an existential without an allocation.
struct ValueDecoder: Decoder {
    let state: DecodingState
    /// The value's token.
    let index: Int

    var codingPath: [any CodingKey] { state.path(to: index) }

    var userInfo: [CodingUserInfoKey: Any] { state.fields.pointee.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        _ = try state.object(at: index, as: ObjectProbe.self)
        return state.maker(for: type).container(state: state, object: index)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        _ = try state.array(at: index, as: ArrayProbe.self)
        return ArrayContainer(state: state, array: index)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}
