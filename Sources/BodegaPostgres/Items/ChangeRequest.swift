#if Postgres
import Bodega
import Foundation

/// The identity of a write. All of its attempts log their changes under the same identifier.
struct ChangeRequest: Sendable {
    var collection: Int32
    var origin: UUID
    /// A unique identifier. Later ones are larger, so that an index grows at its end (RFC 9562, version 7).
    var identifier: UUID

    init(collection: Int32, origin: UUID, identifier: UUID) {
        self.collection = collection
        self.origin = origin
        self.identifier = identifier
    }

    /// The request with an origin that is shared, see `StorageOrigin.isShared`.
    var shared: ChangeRequest {
        var request = self
        request.origin = StorageOrigin(id: origin).shared.id
        return request
    }

    /// Creates a request with a new identifier.
    init(collection: Int32, origin: UUID) {
        var bytes = UUID().uuid
        // Times before 1970 count as its first moment.
        let milliseconds = UInt64(max(0, Date().timeIntervalSince1970 * 1000))
        withUnsafeMutableBytes(of: &bytes) { bytes in
            for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * index)) }
            bytes[6] = 0x70 | bytes[6] & 0x0F
        }
        self.init(collection: collection, origin: origin, identifier: UUID(uuid: bytes))
    }
}
#endif
