public import Foundation

/// Who changes an engine, so that he knows his own changes among the others in its history.
///
/// ```swift
/// let origin = StorageOrigin()
/// try await StorageOrigin.$current.withValue(origin) { try await engine.write(data, key: key) }
/// ```
public struct StorageOrigin: Hashable, Sendable {
    /// What tells origins apart, in all processes.
    public let id: UUID

    /// Creates an origin.
    ///
    /// - Parameter id: What tells it apart; a new one if nothing else is said.
    public init(id: UUID = UUID()) { self.id = id }

    /// The origin of what the current task writes. `nil`, unless somebody has set it: then it is the engine's own.
    @TaskLocal public static var current: StorageOrigin?
}
