import Bodega
import Foundation

/// Secrets in memory while ``/Bodega/TemporaryStorage`` is in use. Afterwards there are none, and none can be written.
final class TemporarySecrets: SecretStorage {
    private let secrets = MemorySecretStorage()
    private let storage: TemporaryStorage

    /// The storage retains this object until it ends.
    init(in storage: TemporaryStorage) { self.storage = storage }

    var scope: String { secrets.scope }

    func read(_ secret: SecretAddress) -> Data? { storage.hasEnded ? nil : secrets.read(secret) }

    func write(_ data: Data, to secret: SecretAddress) throws {
        try check()
        secrets.write(data, to: secret)
    }

    func remove(_ secret: SecretAddress) throws {
        try check()
        secrets.remove(secret)
    }

    private func check() throws {
        guard storage.hasEnded else { return }
        throw KeychainError(
            .unavailable,
            """
            The secrets of the test in which this value was created have ended. Create values in each test, not in a \
            global or static property.
            """)
    }
}
