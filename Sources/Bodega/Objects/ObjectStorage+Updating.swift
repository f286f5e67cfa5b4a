import Foundation

extension ObjectStorage {

    /// Reads an object, changes it, and writes it.
    ///
    /// On an engine with ``StorageTraits/conditional``, such as SQLite, files, memory, PostgreSQL and wrappers around
    /// them, the update is atomic: if another writer has changed the object since it was read, it is read and changed
    /// again. On another engine, the later write wins.
    ///
    /// ```swift
    /// try await accounts.update(forKey: key) { $0.balance += 10 }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The object's key.
    ///   - change: Changes the object. It may run more than once, and off the caller's actor.
    /// - Returns: The changed object; `nil` if there is none under the key.
    /// - Throws: The error of `change`, a ``StorageError`` if the object could not be read, decoded, encoded or
    ///   written, or a `CancellationError`. Except for a write with an unknown outcome, nothing has changed then.
    @discardableResult
    public func update(
        forKey key: CacheKey, _ change: @Sendable (inout Object) throws -> Void
    ) async throws -> Object? {
        try await replace(key) { object in
            guard var object else { return nil }
            try change(&object)
            return object
        }
    }

    /// Reads an object, or begins with another one if there is none, changes it, and writes it.
    ///
    /// ```swift
    /// try await visits.update(forKey: key, default: Visits(count: 0)) { $0.count += 1 }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The object's key.
    ///   - initial: The object with which to begin if there is none under the key.
    ///   - change: Changes the object, see ``update(forKey:_:)``.
    /// - Returns: The changed object.
    /// - Throws: See ``update(forKey:_:)``.
    @discardableResult
    public func update(
        forKey key: CacheKey, default initial: @autoclosure @Sendable () -> Object,
        _ change: @Sendable (inout Object) throws -> Void
    ) async throws -> Object {
        let changed = try await replace(key) { object in
            var object = object ?? initial()
            try change(&object)
            return object
        }
        guard let changed else { preconditionFailure("An object with a default is always written.") }
        return changed
    }

    private func replace(
        _ key: CacheKey, _ change: (Object?) throws -> Object?
    ) async throws -> Object? {
        try await declareReferences()
        let request = FetchRequest([key], options: ReadOptions(needsOriginal: true))
        while true {
            try Task.checkCancellation()
            let data = try await storage.fetch(request).value.first?.data
            let object = try data.map { try coder.decode(Object.self, from: $0, for: key) }
            guard let changed = try change(object) else { return nil }
            let batch = batch(
                [.write(key: key, data: try coder.encode(changed, for: key))],
                if: [StorageCondition(key: key, data: data)])
            if try await storage.apply(batch).value.wasApplied { return changed }
        }
    }

    /// A batch with conditions, or without if the engine has none.
    func batch(_ operations: [StorageOperation], if conditions: [StorageCondition]) -> StorageBatch {
        StorageBatch(operations, if: storage.traits.contains(.conditional) ? conditions : nil)
    }
}
