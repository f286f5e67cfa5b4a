public import Bodega
public import Foundation

extension Store {

    /// Waits until the items are loaded. If they are loaded already, it returns immediately.
    ///
    /// - Throws: The engine's error if the items could not be read.
    public func itemsHaveLoaded() async throws {
        try await pipeline.waitForLoad()
    }

    /// Reads the items again, after loading has failed or when another program may have changed them.
    ///
    /// Operations called before the reload take effect before it, later ones after it.
    ///
    /// - Throws: The engine's error. A store that was loaded keeps its items. A store that was not loaded is in the
    ///   state ``StoreState/failed(_:)`` again.
    public func reload() async throws {
        try await pipeline.reload()
    }

    // MARK: Undecodable records

    /// Fetches the bytes of the records that could not be decoded, to repair them or to export them for inspection.
    ///
    /// - Returns: The records reported in ``undecodable`` that still exist, with their keys. Records that the engine
    ///   itself can't read, such as those that can't be decrypted, are omitted.
    /// - Throws: A `StorageError` if they could not be read.
    public func undecodableData() async throws -> [(key: CacheKey, data: Data)] {
        try await pipeline.undecodableData()
    }

    /// Removes records that could not be decoded, or that the engine could not read.
    ///
    /// - Parameter keys: The keys of the records to remove, or `nil` for all of them. Keys of other records are
    ///   ignored. A record that another program has repaired in the meantime is not removed, but becomes an item.
    /// - Throws: A `StorageError`. An engine whose batches are not atomic may have removed some of the records by then;
    ///   the remaining ones are still in ``undecodable``.
    public func removeUndecodable(_ keys: [CacheKey]? = nil) async throws {
        try await pipeline.removeUndecodable(keys)
    }
}
