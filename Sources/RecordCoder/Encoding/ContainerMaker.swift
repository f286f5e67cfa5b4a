/// Makes the containers for one type of keys.
///
/// Looking up the metadata and the conformance of the generic container type takes as long as writing two or three
/// members. An object whose own metadata holds both is therefore made once for each type.
class ContainerMaker<Key: CodingKey> {
    /// Makes a container for an object.
    ///
    /// - Parameters:
    ///   - state: The state of the record being written.
    ///   - depth: The depth of the object's frame.
    ///   - start: The offset at which the object starts.
    func container(state: EncodingState, depth: Int, start: Int) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedValueEncoder(state: state, depth: depth, start: start))
    }
}

/// A container type that generic code can make.
protocol MakeableContainer: KeyedEncodingContainerProtocol {
    /// Makes a container for an object.
    init(state: EncodingState, depth: Int, start: Int)
}

extension KeyedValueEncoder: MakeableContainer {}

/// Makes containers of the type in this object's own metadata.
final class ReadyContainerMaker<Key, Container: MakeableContainer>: ContainerMaker<Key> where Container.Key == Key {
    override func container(state: EncodingState, depth: Int, start: Int) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Container(state: state, depth: depth, start: start))
    }
}
