import Foundation

/// Reads and changes of objects in several collections of one database, which take effect together.
///
/// ```swift
/// try await database.transaction { transaction in
///     guard let note = try await transaction.object(forKey: key, in: drafts) else { return }
///     try transaction.store(note, forKey: key, in: notes)
///     try transaction.removeObject(forKey: key, in: drafts)
/// }
/// ```
///
/// - All changes are applied at the end of the closure, by one batch, or none if it throws.
/// - A read returns what the transaction has written before, or else what is stored.
/// - What was read is what is stored when the changes are applied. If another writer has changed it in the meantime,
///   the closure runs again with a new transaction, so it must not change anything else. Until then, two reads can
///   return objects of different moments: don't trap if they contradict each other, but throw or return.
/// - No lock is held while the closure runs.
///
/// Use a collection by one ``ObjectStorage``: another one of the same items does not find what the first has written.
public final class StorageTransaction: Sendable {

    private struct Member: Sendable {
        let engine: any StorageBackend
        let references: ReferenceDeclaration
        /// What was read, `nil` if there was nothing.
        var read: [CacheKey: Data?] = [:]
        /// What was written, `nil` if it was removed.
        var written: [CacheKey: Data?] = [:]
        var operations: [StorageOperation] = []
    }

    private struct State: Sendable {
        var members: [ObjectIdentifier: Member] = [:]
        var order: [ObjectIdentifier] = []
        var hasEnded = false
    }

    private let database: any StorageDatabase
    private let state = Locked(State())

    init(in database: any StorageDatabase) { self.database = database }

    /// Reads an object.
    ///
    /// - Parameters:
    ///   - key: The object's key.
    ///   - storage: The object's collection.
    /// - Returns: The object, `nil` if there is none under the key.
    /// - Throws: A ``StorageError`` if it could not be read or decoded, or if the collection is in another database.
    public nonisolated(nonsending) func object<Object>(
        forKey key: CacheKey, in storage: ObjectStorage<Object>
    ) async throws -> Object? {
        try await objects(forKeys: [key], in: storage)[key]
    }

    /// Reads objects, with one read of the engine.
    ///
    /// - Parameters:
    ///   - keys: The objects' keys.
    ///   - storage: The objects' collection.
    /// - Returns: The objects that exist, by their keys.
    /// - Throws: See ``object(forKey:in:)``.
    public nonisolated(nonsending) func objects<Object>(
        forKeys keys: [CacheKey], in storage: ObjectStorage<Object>
    ) async throws -> [CacheKey: Object] {
        let unknown = try withMember(of: storage) { member in
            keys.filter { member.written[$0] == nil && member.read[$0] == nil }
        }
        if !unknown.isEmpty {
            let request = FetchRequest(unknown, options: ReadOptions(needsOriginal: true))
            let items = try await storage.storage.fetch(request).value
            let found = Dictionary(items.map { ($0.key, $0.data) }) { first, _ in first }
            try withMember(of: storage) { member in
                // Another read of the transaction may have come first.
                for key in unknown where member.read[key] == nil { member.read[key] = .some(found[key]) }
            }
        }
        let data = try withMember(of: storage) { member in
            keys.map { ($0, member.written[$0] ?? member.read[$0] ?? nil) }
        }
        var objects: [CacheKey: Object] = [:]
        for case (let key, let data?) in data {
            objects[key] = try storage.coder.decode(Object.self, from: data, for: key)
        }
        return objects
    }

    /// Stores an object at the end of the transaction.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - key: Its key.
    ///   - storage: Its collection.
    /// - Throws: A ``StorageError`` if it could not be encoded, or if the collection is in another database.
    public func store<Object>(_ object: Object, forKey key: CacheKey, in storage: ObjectStorage<Object>) throws {
        let data = try storage.coder.encode(object, for: key)
        try withMember(of: storage) { member in
            member.written[key] = .some(data)
            member.operations.append(.write(key: key, data: data))
        }
    }

    /// Removes an object at the end of the transaction, if there is one.
    ///
    /// - Parameters:
    ///   - key: The object's key.
    ///   - storage: The object's collection.
    /// - Throws: A ``StorageError`` if the collection is in another database.
    public func removeObject<Object>(forKey key: CacheKey, in storage: ObjectStorage<Object>) throws {
        try withMember(of: storage) { member in
            member.written[key] = .some(nil)
            member.operations.append(.remove(key: key))
        }
    }

    /// Reads an object, changes it, and stores it at the end of the transaction.
    ///
    /// - Parameters:
    ///   - key: The object's key.
    ///   - storage: The object's collection.
    ///   - change: Changes the object.
    /// - Returns: The changed object; `nil` if there is none under the key.
    /// - Throws: The error of `change`, or see ``object(forKey:in:)``.
    @discardableResult
    public nonisolated(nonsending) func update<Object>(
        forKey key: CacheKey, in storage: ObjectStorage<Object>, _ change: (inout Object) throws -> Void
    ) async throws -> Object? {
        guard var object = try await object(forKey: key, in: storage) else { return nil }
        try change(&object)
        try store(object, forKey: key, in: storage)
        return object
    }

    private func withMember<Object, Result>(
        of storage: ObjectStorage<Object>, _ body: (inout Member) throws -> Result
    ) throws -> Result {
        try state.withLock { state in
            if state.hasEnded {
                throw StorageError(.invalidArgument, "The transaction has ended. Use it only in its closure.")
            }
            let id = ObjectIdentifier(storage)
            if state.members[id] == nil {
                guard try storage.storage.requiredDatabase() === database else {
                    throw StorageError(
                        .invalidArgument,
                        """
                        The collection is not in the database of the transaction. Open one engine, and the others with \
                        its collection(named:).
                        """)
                }
                state.order.append(id)
            }
            let new = Member(engine: storage.storage, references: storage.referenceDeclaration)
            return try body(&state.members[id, default: new])
        }
    }

    /// Ends the transaction, and applies its changes.
    ///
    /// - Returns: Whether what was read was still stored. Otherwise nothing is applied.
    func commit() async throws -> Bool {
        let members = state.withLock { state in
            state.hasEnded = true
            return state.order.compactMap { state.members[$0] }
        }
        for member in members where !member.operations.isEmpty {
            try await member.references.declare(to: member.engine)
        }
        let batches = members.map { member in
            let read = member.read.map { StorageCondition(key: $0.key, data: $0.value) }
            var batch = StorageBatch(member.operations, if: read.isEmpty ? nil : read)
            batch.isTransaction = true
            return (engine: member.engine, batch: batch)
        }
        // One item is always from one moment.
        if members.allSatisfy(\.operations.isEmpty), members.reduce(0, { $0 + $1.read.count }) <= 1 { return true }
        return try await StorageBatchGroup.apply(batches).allSatisfy(\.value.wasApplied)
    }

    /// Ends the transaction. Its closure may have let it escape.
    fileprivate func end() { state.withLock { $0.hasEnded = true } }
}

extension StorageEngine {

    /// Reads and changes objects in several collections of the engine's database, such as those of an SQLite file. All
    /// changes are applied together, or none.
    ///
    /// ```swift
    /// let database = try SQLiteStorageEngine(opening: directory)
    /// let drafts = ObjectStorage<Note>(storage: try database.collection(named: "drafts"))
    /// let notes = ObjectStorage<Note>(storage: try database.collection(named: "notes"))
    ///
    /// try await database.transaction { transaction in
    ///     guard let note = try await transaction.object(forKey: key, in: drafts) else { return }
    ///     try transaction.store(note, forKey: key, in: notes)
    ///     try transaction.removeObject(forKey: key, in: drafts)
    /// }
    /// ```
    ///
    /// Collections in wrappers can take part, except for ``MirroredStorageEngine`` and ``LimitedStorageEngine``.
    ///
    /// - Parameters:
    ///   - isolation: The actor on which the closure runs, the caller's by default.
    ///   - body: Reads and changes objects, see ``StorageTransaction``. It may run more than once.
    /// - Returns: The result of the last run.
    /// - Throws: The error of `body`, or a ``StorageError``; nothing has changed then, except for a write with an
    ///   unknown outcome. The code is ``StorageError/Code/invalidArgument`` if the engine has no other collections,
    ///   such as one on a folder, and ``StorageError/Code/conflict`` if other writers have changed what `body` has read
    ///   in each of 1,000 attempts.
    public func transaction<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (StorageTransaction) async throws -> Result
    ) async throws -> Result {
        let database = try backend.requiredDatabase()
        var attempts = ConditionalAttempts()
        while true {
            try Task.checkCancellation()
            let transaction = StorageTransaction(in: database)
            defer { transaction.end() }
            let result = try await body(transaction)
            if try await transaction.commit() { return result }
            try attempts.fail(nil)
        }
    }
}
