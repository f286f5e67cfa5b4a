import Bodega
import Foundation

/// The objects of a custom engine, which need not be thread-safe.
///
/// 1. An operation calls `begin` of `deliveries`, and then the engine, holding `lock`.
/// 2. Still holding it, it enqueues the change, so changes are enqueued in the order of the engine's calls.
/// 3. If the engine uses a store on itself, that operation runs on the same thread within the first, at a greater
///    `depth`. Its end leaves its observers to the outer operation.
/// 4. The outermost operation releases the lock and calls `end` of `deliveries`, which calls the observers.
///
/// `lock` guards the engine and `depth`.
final class CustomCollection<Object: BaseCodableStoreable>: ObjectCollection, @unchecked Sendable {
    // @unchecked because every call of the engine holds the lock.

    // Constraining `Object` of both halves crashes the compiler. They have the same `Object` anyway.
    typealias Engine = any ReadableCodableStoreEngine<Object> & WriteableCodableStoreEngine

    private let engine: Engine
    // Recursive, because an engine may use a store on itself.
    private let lock = NSRecursiveLock()
    // The number of nested calls of the engine in progress.
    private var depth = 0
    private let deliveries: DeliveryQueue
    let observers: Observers<Object>

    init(_ engine: Engine) {
        self.engine = engine
        deliveries = DeliveryQueue()
        observers = Observers(deliveries)
    }

    /// Calls the engine, and then the observers of changes that it may have made through a store on itself.
    ///
    /// - Throws: The closure's error, or a `StorageError` in a transaction, which the engine has no part in.
    func withEngine<Result>(_ body: (Engine) throws -> Result) throws -> Result {
        deliveries.begin()
        defer { end() }
        return try locked(body)
    }

    private func locked<Result>(_ body: (Engine) throws -> Result) throws -> Result {
        try ThreadTransaction.checkUse(of: self)
        lock.lock()
        depth += 1
        defer {
            depth -= 1
            lock.unlock()
        }
        return try body(engine)
    }

    /// Ends an operation and calls observers, unless this thread is within a call of the engine. Then the operation
    /// that made that call does so at its end.
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
        // The identifiers of a custom engine need not have a text.
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

    /// Deletes the objects one by one, because a custom engine has no batches.
    func deleteAll() throws -> [Outcome<Object>] {
        let objects: [Object] = try withEngine { try $0.getCollection() }
        return delete(objects.map { $0.codableStoreID })
    }

    /// Deletes the objects. What contains them belongs to the engine.
    func removeAll() throws {
        for outcome in try deleteAll() { _ = try outcome.get() }
    }

    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        throw StorageError(
            .invalidArgument,
            """
            A custom engine, such as \(type(of: engine)), has no transactions. Use an SQLite engine, such as .sqlite \
            or .sqlite(in:).
            """)
    }

    func prepareToObserve() {}

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
