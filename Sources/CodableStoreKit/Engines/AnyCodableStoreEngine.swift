import Foundation

/// An engine of any type, for ``CodableStore/Engine/custom(_:)``.
///
/// Copies share the engine, and so do all that wrap the same object: what is observed through one is told of changes
/// through the others. The engine is called by one thread at a time.
public struct AnyCodableStoreEngine<Object: BaseCodableStoreable>: CodableStoreEngine {

    let collection: CustomCollection<Object>

    /// Wraps an engine.
    ///
    /// - Parameter engine: The engine.
    public init<Engine: CodableStoreEngine>(_ engine: Engine) where Engine.Object == Object {
        collection = CustomCollections.collection(of: engine)
    }

    init(_ collection: CustomCollection<Object>) {
        self.collection = collection
    }

    public func get(identifier: Object.ID) throws -> Object {
        try collection.withEngine { try $0.get(identifier: identifier) }
    }

    public func getCollection() throws -> [Object] {
        try collection.withEngine { try $0.getCollection() }
    }

    @discardableResult
    public func save(_ object: Object) throws -> Object {
        try collection.withEngine { try $0.save(object) }
    }

    @discardableResult
    public func delete(identifier: Object.ID) throws -> Object {
        try collection.withEngine { try $0.delete(identifier: identifier) }
    }
}

// Every call of the engine holds the collection's lock, but the objects that it takes and gives out are shared.
extension AnyCodableStoreEngine: Sendable where Object: Sendable {}
