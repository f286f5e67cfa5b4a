public import Foundation
import Bodega

/// Keeps secrets in memory, as long as itself, for tests and previews.
///
/// ```swift
/// let storage = MemorySecretStorage()
/// let token = SecurelyStoredValue<String>(key: "token", storage: storage)
/// ```
///
/// Each instance has secrets of its own. They are not encrypted.
public final class MemorySecretStorage: SecretStorage {
    private let secrets: Locked<[SecretAddress: Data]>

    /// A name that no other instance has.
    public let scope = "memory:" + UUID().uuidString

    /// Creates a storage.
    ///
    /// - Parameter secrets: What it holds to begin with.
    public init(_ secrets: [SecretAddress: Data] = [:]) {
        self.secrets = Locked(secrets)
    }

    public func read(_ secret: SecretAddress) -> Data? {
        secrets.withLock { $0[secret] }
    }

    public func write(_ data: Data, to secret: SecretAddress) {
        secrets.withLock { $0[secret] = data }
    }

    public func remove(_ secret: SecretAddress) {
        secrets.withLock { $0[secret] = nil }
    }
}
