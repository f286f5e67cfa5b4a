import Bodega
import BodegaServer
import Foundation
import Gallery

/// Gives each device a token, which is known to this program only and never stored.
///
/// A device has the same identifier after a restart, so the server still recognizes changes that it has made before.
final class DeviceAccess: StorageAccess, @unchecked Sendable {
    // @unchecked because every access to `devices` holds `lock`.
    private let lock = NSLock()
    private var devices: [String: String] = [:]

    /// The token of a device.
    func token(of device: String) -> String {
        lock.withLock {
            if let known = devices.first(where: { $0.value == device }) { return known.key }
            var random = SystemRandomNumberGenerator()
            // 256 bits, so it cannot be guessed.
            let token = (0..<4).map { _ in String(random.next(), radix: 16) }.joined(separator: "-")
            devices[token] = device
            return token
        }
    }

    func client(bearing token: String?) async throws -> StorageClient? {
        guard let token, let device = lock.withLock({ devices[token] }) else { return nil }
        let scope = StorageScope(rights: .items)
        let scopes = SyncedCollections.names.map { ($0, scope) }
        return StorageClient(id: device, scopes: Dictionary(uniqueKeysWithValues: scopes))
    }
}
