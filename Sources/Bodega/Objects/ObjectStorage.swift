public import Foundation
import Logging

/// A storage for `Codable` objects of one type, on a storage engine.
///
/// ```swift
/// let storage = ObjectStorage<Quote>(storage: SQLiteStorageEngine.default)
/// try await storage.store(quote, forKey: CacheKey(quote.id))
/// let quote = try await storage.fetchObject(forKey: CacheKey("dolly-parton"))
/// ```
///
/// Like those of ``StorageEngine``, reads come in two forms. The `fetch…` forms throw errors and report records that
/// cannot be decoded. The other forms log errors and omit what could not be read.
public final class ObjectStorage<Object: Codable>: Sendable {

    package let storage: any StorageBackend
    package let coder: any ObjectCoder
    /// Creates the indexes of the objects' type.
    let indexCreation: IndexCreation
    /// Declares the references of the objects' type.
    let referenceDeclaration: ReferenceDeclaration
    /// Whether stored objects have shown what they can about these indexes.
    let hasSampled = Locked(false)
    /// Whether the texts of stored objects were compared with their records.
    let hasExaminedTexts = Locked(false)

    /// Creates a storage on an engine.
    ///
    /// - Parameters:
    ///   - storage: Where the bytes are kept.
    ///   - coder: How objects become bytes; JSON by default.
    public init(storage: any StorageEngine, coder: any ObjectCoder = .json) {
        self.storage = storage.backend
        self.coder = coder
        indexCreation = IndexCreation(clock: ContinuousClock())
        referenceDeclaration = ReferenceDeclaration(of: Object.self, codedBy: coder)
    }

    init(storage: any StorageEngine, indexCreation: IndexCreation) {
        self.storage = storage.backend
        coder = .json
        self.indexCreation = indexCreation
        referenceDeclaration = ReferenceDeclaration(of: Object.self, codedBy: coder)
    }

    /// Creates a storage on a folder with one file per object; see ``DiskStorageEngine``.
    ///
    /// - Parameter directory: The folder; created if it is missing.
    public convenience init(directory: FileManager.Directory) {
        self.init(storage: DiskStorageEngine(directory: directory))
    }

    // MARK: Storing

    /// Stores an object, replacing the one under the same key.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - key: The key to store it under.
    /// - Throws: A ``StorageError`` if it could not be encoded or written; the previous object is then unchanged.
    public func store(_ object: Object, forKey key: CacheKey) async throws {
        try await declareReferences()
        try await storage.write(try coder.encode(object, for: key), key: key)
    }

    /// Stores several objects with one call to the engine.
    ///
    /// - Parameter objectsAndKeys: The objects and their keys. Of two with the same key the later one wins.
    /// - Throws: A ``StorageError``. If an object could not be encoded, none was stored.
    public func store(_ objectsAndKeys: [(key: CacheKey, object: Object)]) async throws {
        try await declareReferences()
        let encoded = coder.encode(each: objectsAndKeys.lazy.map { $0.object }, for: objectsAndKeys.lazy.map { $0.key })
        try await storage.write(zip(objectsAndKeys, encoded).map { ($0.key, try $1.get()) })
    }

    // MARK: Removing

    /// Removes an object. Removing an absent one is not an error.
    ///
    /// - Parameter key: The object's key.
    /// - Throws: A ``StorageError`` if it could not be removed.
    public func removeObject(forKey key: CacheKey) async throws {
        try await declareReferences()
        try await storage.remove(key: key)
    }

    /// Removes several objects with one call to the engine. Absent ones are skipped.
    ///
    /// - Parameter keys: The objects' keys.
    /// - Throws: A ``StorageError`` if they could not be removed.
    public func removeObject(forKeys keys: [CacheKey]) async throws {
        try await declareReferences()
        try await storage.remove(keys: keys)
    }

    /// Removes all objects.
    ///
    /// - Throws: A ``StorageError`` if they could not be removed.
    public func removeAllObjects() async throws {
        try await declareReferences()
        try await storage.removeAllData()
    }

    /// Declares the references of the objects' type, unless that was done.
    func declareReferences() async throws {
        try await referenceDeclaration.declare(to: storage)
    }
}
