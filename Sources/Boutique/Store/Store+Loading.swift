public import Bodega
public import Foundation

extension Store {

    /// Waits until the items are loaded. It returns at once if they are.
    ///
    /// - Throws: What the engine threw if the items could not be read.
    public func itemsHaveLoaded() async throws {
        try await pipeline.waitForLoad()
    }

    /// Reads the items again: after loading has failed, or when somebody else may have changed them.
    ///
    /// Operations that were called before are carried out before, later ones after.
    ///
    /// - Throws: What the engine throws. A store that was loaded goes on with the items that it has; one that was not is
    ///   in the state ``StoreState/failed(_:)`` again.
    public func reload() async throws {
        try await pipeline.reload()
    }

    // MARK: Undecodable records

    /// Fetches the bytes of the records that could not be decoded, to repair them or to send them to whom may know.
    ///
    /// - Returns: The records of ``undecodable`` that still exist, with their keys.
    /// - Throws: A `StorageError` if they could not be read.
    public func undecodableData() async throws -> [(key: CacheKey, data: Data)] {
        try await pipeline.undecodableData()
    }

    /// Removes records that could not be decoded.
    ///
    /// - Parameter keys: The keys of some of them; `nil` for all. Other keys are skipped, and so are records that somebody
    ///   has repaired meanwhile, which become items.
    /// - Throws: A `StorageError`. An engine whose batches are not atomic may have removed some of them then; those that
    ///   are left are still in ``undecodable``.
    public func removeUndecodable(_ keys: [CacheKey]? = nil) async throws {
        try await pipeline.removeUndecodable(keys)
    }
}
