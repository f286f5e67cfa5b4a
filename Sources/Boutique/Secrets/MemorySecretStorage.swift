public import Foundation
import Bodega

/// An in-memory storage of secrets, for tests and previews.
///
/// ```swift
/// let storage = MemorySecretStorage()
/// let token = SecurelyStoredValue<String>(key: "token", storage: storage)
/// ```
///
/// Each instance has its own secrets, which are not encrypted and end with it.
public final class MemorySecretStorage: SecretStorage {
    private let secrets: Locked<[SecretAddress: Data]>

    /// A unique name.
    public let scope = "memory:" + UUID().uuidString

    /// Creates a storage.
    ///
    /// - Parameter secrets: The initial secrets.
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
