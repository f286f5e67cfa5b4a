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

    /// Whether the change is one of several in a transaction over several collections, which is followed as a whole.
    ///
    /// Two origins are equal if they differ in this alone. An engine with a ``StorageBackend/database`` records it in
    /// the log, as the version of the identifier: it is 8.
    public var isShared: Bool { id.uuid.6 >> 4 == Self.sharedVersion }

    /// The origin for the changes of a transaction over several collections, see ``isShared``.
    public var shared: StorageOrigin { StorageOrigin(id: UUID(uuid: comparable)) }

    // RFC 9562 leaves the content of version 8 to the application.
    private static let sharedVersion: UInt8 = 8

    private var comparable: uuid_t {
        var id = id.uuid
        id.6 = id.6 & 0x0F | Self.sharedVersion << 4
        return id
    }

    public static func == (left: StorageOrigin, right: StorageOrigin) -> Bool {
        left.id == right.id || UUID(uuid: left.comparable) == UUID(uuid: right.comparable)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(UUID(uuid: comparable)) }

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
