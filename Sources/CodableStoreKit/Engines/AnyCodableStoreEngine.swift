import Foundation

/// A type-erased engine, for ``CodableStore/Engine/custom(_:)``.
///
/// Copies share the engine. If the engine is an object, all wrappers of it share it, too: observers of one wrapper are
/// notified of changes made through the others. One thread at a time calls the engine.
public struct AnyCodableStoreEngine<Object: BaseCodableStoreable>: CodableStoreEngine {

    let collection: CustomCollection<Object>

    /// Wraps an engine.
    ///
    /// - Parameter engine: The engine to wrap.
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

// Every call of the engine holds the collection's lock, but the objects passed to it and returned by it are shared.
extension AnyCodableStoreEngine: Sendable where Object: Sendable {}
