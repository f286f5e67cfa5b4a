#if Server
import Bodega
import Crypto
import Foundation

/// Replaces the origins that a client states by others that only this client can cause.
///
/// The log says from which origin a change is, and a reader skips those of its own. With the origin of another client,
/// a client could hide its changes from that one.
struct OriginMask {
    /// The identifier of the client; `nil` if all clients are one.
    let client: String?

    /// The origin in the log for one that the client states.
    func masked(_ origin: StorageOrigin) -> StorageOrigin {
        guard let client else { return origin }
        // Two origins are equal if only the version differs, which says whether a transaction is shared.
        let bytes = withUnsafeBytes(of: origin.shared.id.uuid) { Data($0) }
        var digest = SHA256()
        digest.update(data: bytes)
        digest.update(data: Data(client.utf8))
        var id = digest.finalize().withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }
        id.6 = id.6 & 0x0F | 0x40
        id.8 = id.8 & 0x3F | 0x80
        let masked = StorageOrigin(id: UUID(uuid: id))
        return origin.isShared ? masked.shared : masked
    }

    /// A change as the client sees it.
    ///
    /// - Parameter own: The origins that the client has stated for its own changes, by those that the log has.
    func unmasked(_ change: StorageChange, own: [StorageOrigin: StorageOrigin]) -> StorageChange {
        guard client != nil, let origin = change.origin, let own = own[origin] else { return change }
        var change = change
        change.origin = origin.isShared ? own.shared : own
        return change
    }
}
#endif
