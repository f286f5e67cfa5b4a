package import BodegaTesting
package import Foundation

extension SeededGenerator {
    /// The next UUID, of version 4.
    package mutating func uuid() -> UUID {
        let high = next().bigEndian
        let low = next().bigEndian
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { buffer in
            buffer.storeBytes(of: high, toByteOffset: 0, as: UInt64.self)
            buffer.storeBytes(of: low, toByteOffset: 8, as: UInt64.self)
            buffer[6] = buffer[6] & 0x0F | 0x40
            buffer[8] = buffer[8] & 0x3F | 0x80
        }
        return UUID(uuid: bytes)
    }
}
