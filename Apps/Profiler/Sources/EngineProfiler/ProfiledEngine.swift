public import Bodega
public import Foundation

/// A custom engine to profile.
public struct ProfiledEngine: Sendable {

    /// The name on the command line and in reports.
    public let name: String

    let open: @Sendable (URL) async throws -> any StorageEngine

    /// Creates a description of an engine.
    ///
    /// - Parameters:
    ///   - name: The name on the command line and in reports.
    ///   - open: Opens the engine in a folder, which is empty at first.
    public init(_ name: String, open: @escaping @Sendable (URL) async throws -> any StorageEngine) {
        self.name = name
        self.open = open
    }
}
