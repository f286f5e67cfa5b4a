/// The encoder of one value, which identifies the place where the value is written.
///
/// It has three words, so that an `any Encoder` holds it without an allocation.
struct ValueEncoder: Encoder {
    let state: EncodingState
    /// The number of enclosing frames.
    let depth: Int
    /// The offset at which the value starts.
    let start: Int

    var codingPath: [any CodingKey] { state.storage.pointee.codingPath(depth: depth, start: start) }

    var userInfo: [CodingUserInfoKey: Any] { state.storage.pointee.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let hasBegun = begin(.object)
        // An escaped encoder may be used on any thread, so it must not change the state.
        guard !state.storage.pointee.hasGivenUp, let table = state.storage.pointee.keyTables.table(for: Key.self) else {
            return KeyedEncodingContainer(KeyedValueEncoder(state: state, depth: depth, start: start))
        }
        if hasBegun, !table.pointee.isOverfull {
            // In bounds: the frame is the innermost one.
            state.storage.pointee.frames[depth].table = table
        }
        // The table and its maker are those of this type.
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

    /// Begins an object as a nested container.
    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let container = container(keyedBy: type)
        state.storage.pointee.markNested(depth: depth, start: start)
        return container
    }

    /// Begins an array as a nested container.
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let container = unkeyedContainer()
        state.storage.pointee.markNested(depth: depth, start: start)
        return container
    }

    /// Begins the value's object or array, unless it is open already, such as after a superclass's `encode(to:)`.
    ///
    /// - Returns: Whether this call began it.
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
