/// The encoder of one value: the place where it is to be written.
///
/// Three words, so that an `any Encoder` holds it without memory of its own.
struct ValueEncoder: Encoder {
    /// What is written to.
    let state: EncodingState
    /// How many frames the value lies in.
    let depth: Int
    /// The offset at which the value starts.
    let start: Int

    var codingPath: [any CodingKey] { state.storage.pointee.codingPath(depth: depth, start: start) }

    var userInfo: [CodingUserInfoKey: Any] { state.storage.pointee.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let hasBegun = begin(.object)
        // Somebody may have kept the encoder, and use it on any thread: then nothing is changed any more.
        guard !state.storage.pointee.hasGivenUp, let table = state.storage.pointee.keyTables.table(for: Key.self) else {
            return KeyedEncodingContainer(KeyedValueEncoder(state: state, depth: depth, start: start))
        }
        if hasBegun, !table.pointee.isOverfull {
            // In bounds: the frame is the innermost one.
            state.storage.pointee.frames[depth].table = table
        }
        // The maker is the one for this type, as the table is.
        return unsafeDowncast(table.pointee.maker, to: ContainerMaker<Key>.self)
            .container(state: state, depth: depth, start: start)
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        _ = begin(.array)
        return UnkeyedValueEncoder(state: state, depth: depth, start: start)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        self
    }

    /// Begins an object in a container.
    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let container = container(keyedBy: type)
        state.storage.pointee.markNested(depth: depth, start: start)
        return container
    }

    /// Begins an array in a container.
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let container = unkeyedContainer()
        state.storage.pointee.markNested(depth: depth, start: start)
        return container
    }

    /// Begins the value's object or array, unless that has been done before, as a superclass does.
    ///
    /// - Returns: Whether it was begun now.
    @inline(__always)
    private func begin(_ kind: EncodingFrame.Kind) -> Bool {
        let storage = state.storage
        if storage.pointee.isVacant(depth: depth, start: start) {
            return storage.pointee.beginFrame(kind, depth: depth)
        }
        // In bounds: the frame is open.
        if storage.pointee.isOpen(depth: depth, start: start), storage.pointee.frames[depth].isWritable(as: kind) {
            return false
        }
        storage.pointee.giveUp()
        return false
    }
}
