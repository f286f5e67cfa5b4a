import Foundation

extension ObjectStorage {

    /// Fetches an object.
    ///
    /// - Parameter key: The object's key.
    /// - Returns: The object, or `nil` if there is none.
    /// - Throws: A ``StorageError`` if it could not be read, or decoded (``StorageError/Code/decodingFailed``).
    public func fetchObject(forKey key: CacheKey) async throws -> Object? {
        try await storage.fetch(key: key).map { try coder.decode(Object.self, from: $0, for: key) }
    }

    /// Fetches several objects with one call to the engine.
    ///
    /// - Parameter keys: The objects' keys.
    /// - Returns: The objects that exist, in the order of `keys`, and the records that could not be decoded or
    ///   decrypted.
    /// - Throws: A ``StorageError`` if they could not be read.
    public func fetchObjects(forKeys keys: [CacheKey]) async throws -> FetchedObjects<Object> {
        let request = FetchRequest(keys, options: ReadOptions(omitsUnreadable: true))
        let answer = try await storage.fetch(request)
        let items = answer.value.map { (key: $0.key, data: $0.data) }
        return await FetchedObjects(items, answer.report.unreadable, decodedBy: coder)
    }

    /// Fetches all objects with one call to the engine.
    ///
    /// - Returns: The objects in insertion order, and the records that could not be decoded or decrypted.
    /// - Throws: A ``StorageError`` if they could not be read.
    public func fetchAllObjects() async throws -> FetchedObjects<Object> {
        do {
            return await FetchedObjects(try await storage.fetchAll(), [], decodedBy: coder)
        } catch let error as StorageError where error.key != nil {
            let answer = try await storage.fetchAll(options: ReadOptions(omitsUnreadable: true))
            let items = answer.value.map { (key: $0.key, data: $0.data) }
            return await FetchedObjects(items, answer.report.unreadable, decodedBy: coder)
        }
    }

    /// Lists the keys of all objects, in insertion order.
    ///
    /// - Throws: A ``StorageError`` if they could not be read.
    public func fetchKeys() async throws -> [CacheKey] {
        try await storage.fetchKeys()
    }

    /// Counts the objects, including those that cannot be decoded.
    ///
    /// - Throws: A ``StorageError`` if they could not be counted.
    public func fetchCount() async throws -> Int {
        try await storage.fetchCount()
    }

    /// Returns when an object was first and last stored.
    ///
    /// - Parameter key: The object's key.
    /// - Returns: The dates, or `nil` if there is no such object.
    /// - Throws: A ``StorageError`` if they could not be read.
    public func fetchDates(forKey key: CacheKey) async throws -> StorageDates? {
        try await storage.fetchDates(key: key)
    }
}

extension FetchedObjects where Object: Decodable {

    /// Decodes records on all cores.
    fileprivate init(
        _ items: [(key: CacheKey, data: Data)], _ unreadable: [StorageError], decodedBy coder: any ObjectCoder
    ) async {
        let decoding = Decoding<Object>(coder: coder)
        objectsAndKeys = await items.concurrentCompactMap(decoding.decode)
        undecodable = decoding.errors.withLock { $0 }.sorted { $0.key < $1.key }.map(\.value)
        undecodable += unreadable
    }
}

/// A decoder of the records that a fetch has found, part by part and on several threads concurrently.
private struct Decoding<Object: Decodable>: @unchecked Sendable {
    // @unchecked because the objects' type need not be `Sendable`. Its `init(from:)` may run on several threads
    // concurrently, as it does when two tasks fetch, and each object is used by its caller only.

    let coder: any ObjectCoder
    /// The errors by the indices of the records.
    let errors = Locked<[Int: StorageError]>([:])

    func decode(
        _ part: ArraySlice<(key: CacheKey, data: Data)>,
        _ receive: (consuming (key: CacheKey, object: Object)) -> Void
    ) {
        coder.decode(Object.self, fromEach: part) { index, object in
            receive((part[index].key, object))
        } failure: { index, error in
            errors.withLock { $0[index] = error }
        }
    }
}
