/// Makes the containers for one type of keys.
///
/// To look up the metadata and the conformance of the generic type of such containers takes as long as to decode two or three
/// members, so they are looked up once, by making an object whose own metadata holds them.
class ObjectContainerMaker<Key: CodingKey> {
    /// Makes the container of an object.
    func container(state: DecodingState, object: Int) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ObjectContainer(state: state, object: object))
    }
}

/// A type of containers that can be made without being known.
private protocol MakeableObjectContainer: KeyedDecodingContainerProtocol {
    /// Makes the container of an object.
    init(state: DecodingState, object: Int)
}

extension ObjectContainer: MakeableObjectContainer {}

/// Makes containers of a type that is known from this object's own metadata.
private final class ReadyObjectContainerMaker<Key, Container: MakeableObjectContainer>: ObjectContainerMaker<Key>
where Container.Key == Key {
    override func container(state: DecodingState, object: Int) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Container(state: state, object: object))
    }
}

extension DecodingState {
    /// What makes containers for a type of keys.
    @inline(__always)
    func maker<Key: CodingKey>(for type: Key.Type) -> ObjectContainerMaker<Key> {
        let maker = fields.pointee.makers.fact(about: type) { ReadyObjectContainerMaker<Key, ObjectContainer<Key>>() }
        // The one that was made for this type.
        return unsafeDowncast(maker, to: ObjectContainerMaker<Key>.self)
    }
}
