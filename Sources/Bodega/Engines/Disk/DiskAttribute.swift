#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import CLinuxFileSystem
import Glibc
#elseif canImport(Musl)
import CLinuxFileSystem
import Musl
#endif

/// The extended attribute in which a file keeps its record.
///
/// Not every file system has extended attributes, and some limit them to about 4 kB per file. Records that don't fit go
/// into a ``DiskSidecar``.
enum DiskAttribute {
    #if canImport(Darwin)
    private static let name = "emporium.item"
    private static let orderName = "emporium.order"
    private static let absent = ENOATTR
    #else
    private static let name = "user.emporium.item"
    private static let orderName = "user.emporium.order"
    private static let absent = ENODATA
    #endif

    /// The size of a buffer that suffices for most attributes.
    private static let commonSize = 512

    /// Sets the attribute.
    ///
    /// - Returns: `false` if the file system does not accept it.
    static func set(_ bytes: [UInt8], of descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        fsetxattr(descriptor, name, bytes, bytes.count, 0, 0) == 0
        #else
        fsetxattr(descriptor, name, bytes, bytes.count, 0) == 0
        #endif
    }

    /// The attribute of an open file, `nil` if it has none.
    static func get(of descriptor: Int32) throws -> DiskRecord? {
        var size = commonSize
        while true {
            let record = try withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { buffer -> DiskRecord?? in
                #if canImport(Darwin)
                let count = fgetxattr(descriptor, name, buffer.baseAddress, buffer.count, 0, 0)
                #else
                let count = fgetxattr(descriptor, name, buffer.baseAddress, buffer.count)
                #endif
                if count >= 0 { return .some(DiskRecord(bytes: UnsafeRawBufferPointer(rebasing: buffer[..<count]))) }
                switch errno {
                case ERANGE where size < 1 << 20: return nil
                case absent, ENOTSUP: return .some(nil)
                default: throw StorageError.system(errno, "", "read")
                }
            }
            if let record { return record }
            size *= 16
        }
    }

    /// The bytes of the attribute of an open file, which may be damaged; `nil` if it has none.
    static func bytes(of descriptor: Int32) throws -> [UInt8]? {
        while true {
            #if canImport(Darwin)
            let size = fgetxattr(descriptor, name, nil, 0, 0, 0)
            #else
            let size = fgetxattr(descriptor, name, nil, 0)
            #endif
            if size < 0 {
                if [absent, ENOTSUP].contains(errno) { return nil }
                throw StorageError.system(errno, "", "read")
            }
            var bytes = [UInt8](repeating: 0, count: size)
            #if canImport(Darwin)
            let count = fgetxattr(descriptor, name, &bytes, size, 0, 0)
            #else
            let count = fgetxattr(descriptor, name, &bytes, size)
            #endif
            if count >= 0 { return Array(bytes[..<count]) }
            // It became longer, or was removed, in the meantime.
            if errno != ERANGE && errno != absent { throw StorageError.system(errno, "", "read") }
        }
    }

    /// The last order number stored with a folder, 0 if there is none.
    static func lastOrder(of folder: Int32) -> Int64 {
        var order: Int64 = 0
        let size = MemoryLayout<Int64>.size
        #if canImport(Darwin)
        let count = fgetxattr(folder, orderName, &order, size, 0, 0)
        #else
        let count = fgetxattr(folder, orderName, &order, size)
        #endif
        return count == size ? Int64(littleEndian: order) : 0
    }

    /// Stores the last order number with a folder, if the volume has attributes.
    static func setLastOrder(_ order: Int64, of folder: Int32) {
        var order = order.littleEndian
        let size = MemoryLayout<Int64>.size
        #if canImport(Darwin)
        _ = fsetxattr(folder, orderName, &order, size, 0, 0)
        #else
        _ = fsetxattr(folder, orderName, &order, size, 0)
        #endif
    }
}
