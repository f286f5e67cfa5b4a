/// Makes the containers for one type of keys.
///
/// Looking up the metadata and the conformance of the generic container type takes as long as decoding two or three
/// members. An object whose own metadata holds both is therefore made once for each type.
class ObjectContainerMaker<Key: CodingKey> {
    /// Makes the container of an object.
    func container(state: DecodingState, object: Int) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ObjectContainer(state: state, object: object))
    }
}

/// A container type that generic code can make.
private protocol MakeableObjectContainer: KeyedDecodingContainerProtocol {
    /// Makes the container of an object.
    init(state: DecodingState, object: Int)
}

extension ObjectContainer: MakeableObjectContainer {}

/// Makes containers of the type in this object's own metadata.
private final class ReadyObjectContainerMaker<Key, Container: MakeableObjectContainer>: ObjectContainerMaker<Key>
where Container.Key == Key {
    override func container(state: DecodingState, object: Int) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Container(state: state, object: object))
    }
}

extension DecodingState {
    /// The object that makes containers for a type of keys.
    @inline(__always)
    func maker<Key: CodingKey>(for type: Key.Type) -> ObjectContainerMaker<Key> {
        let maker = fields.pointee.makers.fact(about: type) { ReadyObjectContainerMaker<Key, ObjectContainer<Key>>() }
        // The cached object was made for this type.
        return unsafeDowncast(maker, to: ObjectContainerMaker<Key>.self)
    }
}
