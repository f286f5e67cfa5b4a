public import Bodega

/// A device's way to reach the server that synchronizes galleries, and to switch it off and on.
public struct SyncConnection: Sendable {
    let collection: @Sendable (String) async throws -> any StorageEngine
    let isOn: @Sendable () async -> Bool
    let setOn: @Sendable (Bool) async throws -> Void

    /// Creates a connection.
    ///
    /// - Parameters:
    ///   - collection: Opens a collection of the server. If the server is off, it throws a `StorageError` with the code
    ///     `unreachable`.
    ///   - isOn: Returns whether the server is switched on.
    ///   - setOn: Switches the server on or off, for all devices.
    public init(
        collection: @escaping @Sendable (String) async throws -> any StorageEngine,
        isOn: @escaping @Sendable () async -> Bool,
        setOn: @escaping @Sendable (Bool) async throws -> Void
    ) {
        self.collection = collection
        self.isOn = isOn
        self.setOn = setOn
    }
}
