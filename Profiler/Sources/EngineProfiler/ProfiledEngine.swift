public import Bodega
public import Foundation

/// An engine that a program brings to be profiled.
public struct ProfiledEngine: Sendable {

    /// What the command line and the reports call it.
    public let name: String

    let open: @Sendable (URL) async throws -> any StorageEngine

    /// Names an engine and tells how it is opened.
    ///
    /// - Parameters:
    ///   - name: What the command line and the reports call it.
    ///   - open: Opens the engine in a folder, which is empty at first.
    public init(_ name: String, open: @escaping @Sendable (URL) async throws -> any StorageEngine) {
        self.name = name
        self.open = open
    }
}
