import Foundation

extension ObjectStorage {

    /// Fetches an object.
    ///
    /// - Parameter key: The object's key.
    /// - Returns: The object, or `nil` if there is none.
    /// - Throws: A ``StorageError`` if it could not be read, with ``StorageError/Code/decodingFailed`` if it could not
    ///   be decoded.
    public func fetchObject(forKey key: CacheKey) async throws -> Object? {
        try await storage.fetch(key: key).map { try coder.decode(Object.self, from: $0, for: key) }
    }

    /// Fetches several objects with one call to the engine.
    ///
    /// - Parameter keys: The objects' keys.
    /// - Returns: The objects that exist, in the order of `keys`, and the records that could not be decoded.
    /// - Throws: A ``StorageError`` if they could not be read.
    public func fetchObjects(forKeys keys: [CacheKey]) async throws -> FetchedObjects<Object> {
        FetchedObjects(try await storage.fetch(keys: keys), decodedBy: coder)
    }

    /// Fetches all objects with one call to the engine.
    ///
    /// - Returns: The objects in insertion order, and the records that could not be decoded.
    /// - Throws: A ``StorageError`` if they could not be read.
    public func fetchAllObjects() async throws -> FetchedObjects<Object> {
        FetchedObjects(try await storage.fetchAll(), decodedBy: coder)
    }

    /// Lists the keys of all objects, in insertion order.
    ///
    /// - Throws: A ``StorageError`` if they could not be read.
    public func fetchKeys() async throws -> [CacheKey] {
        try await storage.fetchKeys()
    }

    /// Counts the objects, also those that cannot be decoded.
    ///
    /// - Throws: A ``StorageError`` if they could not be counted.
    public func fetchCount() async throws -> Int {
        try await storage.fetchCount()
    }

    /// Tells when an object was first and last stored.
    ///
    /// - Parameter key: The object's key.
    /// - Returns: The dates, or `nil` if there is no such object.
    /// - Throws: A ``StorageError`` if they could not be read.
    public func fetchDates(forKey key: CacheKey) async throws -> StorageDates? {
        try await storage.fetchDates(key: key)
    }
}

extension FetchedObjects where Object: Decodable {

    fileprivate init(_ records: [(key: CacheKey, data: Data)], decodedBy coder: any ObjectCoder) {
        objectsAndKeys.reserveCapacity(records.count)
        coder.decode(Object.self, fromEach: records[...]) { index, object in
            objectsAndKeys.append((records[index].key, object))
        } failure: { _, error in
            undecodable.append(error)
        }
    }
}
