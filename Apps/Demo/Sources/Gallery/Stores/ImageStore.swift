import Bodega
import Foundation
import Logging

/// The bytes of pictures, in engines beside the store. They are read when a browser requests them and never kept in
/// memory.
///
/// If a gallery is synchronized, the images of its favourites are in an engine of their own, which devices have in
/// common. It has those of favourites only. Those of removed favourites are set aside on the device that has removed
/// them, as long as the removal can be undone.
struct ImageStore: Sendable {
    private let engine: any StorageEngine
    /// The engine for the favourites' images, `nil` if they are in the other one.
    private let shared: (any StorageEngine)?
    private let logger: Logger

    /// Creates a store on engines that hold nothing else.
    init(engine: any StorageEngine, shared: (any StorageEngine)? = nil, logger: Logger) {
        (self.engine, self.shared) = (engine, shared)
        self.logger = logger
    }

    /// Whether devices have the images of favourites in common.
    var isShared: Bool { shared != nil }

    /// Stores an image for the easel. It is durable when this method returns.
    ///
    /// - Returns: The key, owned by the caller.
    /// - Throws: A `StorageError` if it could not be written.
    func add(_ data: Data) async throws -> ImageKey {
        let key = ImageKey()
        try await engine.write(data, key: key.cacheKey)
        return key
    }

    /// Stores a copy of an image for a favourite.
    ///
    /// - Returns: The key of the copy, owned by the caller; `nil` if there is no such image.
    /// - Throws: A `StorageError` if it could not be read or written.
    func copy(_ key: ImageKey) async throws -> ImageKey? {
        guard let data = try await data(key) else { return nil }
        let copy = ImageKey()
        try await (shared ?? engine).write(data, key: copy.cacheKey)
        return copy
    }

    /// The bytes of an image, `nil` if there is none with this key.
    ///
    /// - Throws: A `StorageError` if they could not be read.
    func data(_ key: ImageKey) async throws -> Data? {
        if let data = try await shared?.fetch(key: key.cacheKey) { return data }
        return try await engine.fetch(key: key.cacheKey)
    }

    /// Removes images that no longer have an owner.
    ///
    /// If that fails, the images are removed at the next start, so the error is only logged.
    func discard(_ keys: [ImageKey]) async {
        if keys.isEmpty { return }
        do {
            try await shared?.remove(keys: keys.map(\.cacheKey))
            try await engine.remove(keys: keys.map(\.cacheKey))
        } catch {
            logger.warning(
                "Images could not be removed. They will be removed at the next start.", metadata: ["error": "\(error)"])
        }
    }

    // MARK: Removals

    /// Keeps the images of removed favourites on this device, so that the removal can be undone.
    ///
    /// If that fails, they stay where they are, so the error is only logged.
    func setAside(_ keys: [ImageKey]) async {
        guard let shared else { return }
        do {
            let keys = keys.map(\.cacheKey)
            try await engine.write(try await shared.fetch(keys: keys))
            try await shared.remove(keys: keys)
        } catch {
            logger.warning("Images of removed favourites could not be set aside.", metadata: ["error": "\(error)"])
        }
    }

    /// Gives favourites that are restored their images again, before they are restored.
    ///
    /// - Throws: A `StorageError` if the images could not be read or written.
    func putBack(_ keys: [ImageKey]) async throws {
        guard let shared else { return }
        try await shared.write(try await engine.fetch(keys: keys.map(\.cacheKey)))
    }

    /// Forgets what was set aside.
    func forget(_ keys: [ImageKey]) async {
        guard isShared, !keys.isEmpty else { return }
        do {
            try await engine.remove(keys: keys.map(\.cacheKey))
        } catch {
            logger.warning(
                "Images could not be removed. They will be removed at the next start.", metadata: ["error": "\(error)"])
        }
    }

    // MARK: Orphans

    /// Removes orphaned images, except for those that devices have in common: their owners can be on other devices.
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
