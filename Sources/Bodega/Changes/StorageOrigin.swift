public import Foundation

/// The origin of changes. A follower recognizes its own changes in the log by it.
///
/// ```swift
/// let origin = StorageOrigin()
/// try await StorageOrigin.$current.withValue(origin) { try await engine.write(data, key: key) }
/// ```
public struct StorageOrigin: Hashable, Sendable {
    /// The identifier, unique among all processes.
    public let id: UUID

    /// Creates an origin.
    ///
    /// - Parameter id: The identifier; by default a new one.
    public init(id: UUID = UUID()) { self.id = id }

    /// The origin of the current task's writes. By default `nil`: writes then have the engine's own origin.
    @TaskLocal public static var current: StorageOrigin?
}
