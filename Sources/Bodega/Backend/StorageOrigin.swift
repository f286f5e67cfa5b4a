public import Foundation

/// The origin of changes, by which a follower recognizes its own changes in the log.
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

    /// An origin with a random identifier. On Linux, Foundation opens a file for each.
    package static func random() -> StorageOrigin {
        var bits: (UInt64, UInt64) = (.random(in: .min ... .max), .random(in: .min ... .max))
        var id = withUnsafeBytes(of: &bits) { $0.loadUnaligned(as: uuid_t.self) }
        // A random identifier, see RFC 9562, sections 4.1 and 5.4.
        id.6 = id.6 & 0x0F | 0x40
        id.8 = id.8 & 0x3F | 0x80
        return StorageOrigin(id: UUID(uuid: id))
    }
}
