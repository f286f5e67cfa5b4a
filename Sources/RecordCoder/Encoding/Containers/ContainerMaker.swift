/// Makes the containers for one type of keys.
///
/// To look up the metadata and the conformance of the generic type of such containers takes as long as to write two or
/// three members, so they are looked up once, by making an object whose own metadata holds them.
class ContainerMaker<Key: CodingKey> {
    /// Makes a container for an object.
    ///
    /// - Parameters:
    ///   - state: What is written to.
    ///   - depth: The depth of the object's frame.
    ///   - start: The offset at which the object starts.
    func container(state: EncodingState, depth: Int, start: Int) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedValueEncoder(state: state, depth: depth, start: start))
    }
}

/// A type of containers that can be made without being known.
protocol MakeableContainer: KeyedEncodingContainerProtocol {
    /// Makes a container for an object.
    init(state: EncodingState, depth: Int, start: Int)
}

extension KeyedValueEncoder: MakeableContainer {}

/// Makes containers of a type that is known from this object's own metadata.
final class ReadyContainerMaker<Key, Container: MakeableContainer>: ContainerMaker<Key> where Container.Key == Key {
    override func container(state: EncodingState, depth: Int, start: Int) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Container(state: state, depth: depth, start: start))
    }
}
