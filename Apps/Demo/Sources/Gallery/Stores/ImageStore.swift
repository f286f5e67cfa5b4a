import Bodega
import Foundation
import Logging

/// The bytes of pictures, in an engine beside the store. They are read when a browser requests them and never kept in
/// memory.
struct ImageStore: Sendable {
    private let engine: any StorageEngine
    private let logger: Logger

    /// Creates a store on an engine that holds nothing else.
    init(engine: any StorageEngine, logger: Logger) {
        self.engine = engine
        self.logger = logger
    }

    /// Stores an image. It is durable when this method returns.
    ///
    /// - Returns: The key, owned by the caller.
    /// - Throws: A `StorageError` if it could not be written.
    func add(_ data: Data) async throws -> ImageKey {
        let key = ImageKey()
        try await engine.write(data, key: key.cacheKey)
        return key
    }

    /// Stores a copy of an image.
    ///
    /// - Returns: The key of the copy, owned by the caller; `nil` if there is no such image.
    /// - Throws: A `StorageError` if it could not be read or written.
    func copy(_ key: ImageKey) async throws -> ImageKey? {
        guard let data = try await data(key) else { return nil }
        return try await add(data)
    }

    /// The bytes of an image, `nil` if there is none with this key.
    ///
    /// - Throws: A `StorageError` if they could not be read.
    func data(_ key: ImageKey) async throws -> Data? {
        try await engine.fetch(key: key.cacheKey)
    }

    /// Removes images that no longer have an owner.
    ///
    /// If that fails, the images are removed at the next start, so the error is only logged.
    func discard(_ keys: [ImageKey]) async {
        if keys.isEmpty { return }
        do {
            try await engine.remove(keys: keys.map(\.cacheKey))
        } catch {
            logger.warning(
                "Images could not be removed. They will be removed at the next start.", metadata: ["error": "\(error)"])
        }
    }

    /// Removes orphaned images.
    ///
    /// - Parameter owned: The keys of the images that have an owner.
    /// - Returns: The number of removed images.
    /// - Throws: A `StorageError` if they could not be found or removed.
    func removeAll(except owned: Set<ImageKey>) async throws -> Int {
        let owned = Set(owned.map(\.cacheKey))
        let orphans = try await engine.fetchKeys().filter { !owned.contains($0) }
        if !orphans.isEmpty { try await engine.remove(keys: orphans) }
        return orphans.count
    }
}

extension ImageKey {
    fileprivate var cacheKey: CacheKey { CacheKey(verbatim: text) }
}
