import Bodega
import Foundation

/// The objects that an engine of the user's keeps.
final class CustomCollection<Object: BaseCodableStoreable>: ObjectCollection, @unchecked Sendable {
    // @unchecked because every call of the engine holds the lock.

    // The type of the objects is one for both halves. Naming it for each crashes the compiler.
    typealias Engine = any ReadableCodableStoreEngine<Object> & WriteableCodableStoreEngine

    private let engine: Engine
    // Recursive, because an engine may use a store that stands on it.
    private let lock = NSRecursiveLock()
    // How many calls of the engine are under way, one inside of the other.
    private var depth = 0
    private let deliveries: DeliveryQueue
    let observers: Observers<Object>

    init(_ engine: Engine) {
        self.engine = engine
        deliveries = DeliveryQueue()
        observers = Observers(deliveries)
    }

    /// Calls the engine, and then the observers of what it may have changed through a store that stands on it.
    func withEngine<Result>(_ body: (Engine) throws -> Result) rethrows -> Result {
        deliveries.begin()
        defer { end() }
        return try locked(body)
    }

    private func locked<Result>(_ body: (Engine) throws -> Result) rethrows -> Result {
        lock.lock()
        depth += 1
        defer {
            depth -= 1
            lock.unlock()
        }
        return try body(engine)
    }

    /// Ends an operation, and calls observers, unless this thread is inside of a call of the engine, which does it at its end.
    private func end() {
        lock.lock()
        let isInside = depth > 0
        lock.unlock()
        deliveries.end(delivers: !isInside)
    }

    func object(_ identifier: Object.ID) throws -> Object? {
        do {
            return try withEngine { try $0.get(identifier: identifier) }
        } catch let error as StorageError where error.code == .notFound {
            return nil
        }
    }

    func objects() throws -> FetchedObjects<Object> {
        let objects: [Object] = try withEngine { try $0.getCollection() }
        // A custom engine need not be able to name its objects.
        return FetchedObjects(objectsAndKeys: objects.map { (IdentifierText.looseKey(of: $0.codableStoreID), $0) })
    }

    func objectsWithoutKeys() throws -> ObjectsWithoutKeys<Object> {
        ObjectsWithoutKeys(objects: try withEngine { try $0.getCollection() })
    }

    func contains(_ identifier: Object.ID) throws -> Bool {
        try object(identifier) != nil
    }

    func save(_ objects: [Object]) -> [Outcome<Object>] {
        deliveries.begin()
        defer { end() }
        return objects.map { object in
            change(object.codableStoreID, { .saved($0) }) { try $0.save(object) }
        }
    }

    func delete(_ identifiers: [Object.ID]) -> [Outcome<Object>] {
        deliveries.begin()
        defer { end() }
        return identifiers.map { identifier in
            change(identifier, { .deleted($0) }) { try $0.delete(identifier: identifier) }
        }
    }

    /// One by one: an engine of the user's has no batches.
    func deleteAll() throws -> [Outcome<Object>] {
        let objects: [Object] = try withEngine { try $0.getCollection() }
        return delete(objects.map { $0.codableStoreID })
    }

    private func change(
        _ identifier: Object.ID,
        _ change: @escaping (Object) -> ObjectChange<Object>,
        _ operation: (Engine) throws -> Object
    ) -> Outcome<Object> {
        let result = Result {
            try locked { engine in
                let object = try operation(engine)
                observers.enqueue { change(object) }
                return object
            }
        }
        return Outcome(identifier: identifier, result: result)
    }
}
