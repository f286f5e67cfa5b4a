import Foundation
import GRDBSQLite
import TestSupport

@testable import Bodega

/// Counts the files that SQLite opens in a folder, and their syncs.
///
/// It registers a default file system of SQLite that calls the one before, once for the process.
struct SQLiteFileCalls: Sendable {
    /// The names of the opened files, in order.
    private(set) var opened: [String] = []
    /// The number of syncs of each file by its name.
    private(set) var syncs: [String: Int] = [:]
    /// The bytes of each file when it was last synced: what is left of it after a power failure at the latest.
    private(set) var syncedBytes: [String: Data] = [:]

    /// The number of syncs of all files.
    var syncCount: Int { syncs.values.reduce(0, +) }

    /// The calls since ``watch(_:)``.
    static func of(_ folder: TemporaryFolder) -> SQLiteFileCalls {
        watched.withLock { $0[folder.path] } ?? SQLiteFileCalls()
    }

    /// Starts to count the calls for a folder, from zero.
    static func watch(_ folder: TemporaryFolder) {
        _ = isRegistered
        watched.withLock { $0[folder.path] = SQLiteFileCalls() }
    }

    private static let watched = Locked<[String: SQLiteFileCalls]>([:])
    /// The paths of the open files by their addresses.
    private static let paths = Locked<[UInt: String]>([:])
    private static let methods = Locked<[UInt: UInt]>([:])

    private static func note(_ path: String, _ change: (inout SQLiteFileCalls, String) -> Void) {
        let url = URL(fileURLWithPath: path)
        watched.withLock { watched in
            let folder = url.deletingLastPathComponent().path
            if watched[folder] != nil { change(&watched[folder, default: SQLiteFileCalls()], url.lastPathComponent) }
        }
    }

    nonisolated(unsafe) private static var original: UnsafeMutablePointer<sqlite3_vfs> = sqlite3_vfs_find(nil)

    private static let isRegistered: Bool = {
        let counting = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        counting.initialize(to: original.pointee)
        counting.pointee.zName = UnsafePointer(strdup("emporium-tests"))
        counting.pointee.pNext = nil
        counting.pointee.xOpen = { _, name, file, flags, out in
            let code = SQLiteFileCalls.original.pointee.xOpen(SQLiteFileCalls.original, name, file, flags, out)
            guard code == SQLITE_OK, let name, let file else { return code }
            SQLiteFileCalls.replaceMethods(of: file, String(cString: name))
            return code
        }
        return sqlite3_vfs_register(counting, 1) == SQLITE_OK
    }()

    private static func replaceMethods(of file: UnsafeMutablePointer<sqlite3_file>, _ path: String) {
        note(path) { $0.opened.append($1) }
        guard let found = file.pointee.pMethods else { return }
        paths.withLock { $0[UInt(bitPattern: file)] = path }
        let copy = methods.withLock { methods -> UInt in
            if let copy = methods[UInt(bitPattern: found)] { return copy }
            let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            copy.initialize(to: found.pointee)
            copy.pointee.xSync = { file, flags in
                guard let file else { return SQLITE_MISUSE }
                let bytes = SQLiteFileCalls.bytes(of: file)
                if let path = SQLiteFileCalls.paths.withLock({ $0[UInt(bitPattern: file)] }) {
                    SQLiteFileCalls.note(path) {
                        $0.syncs[$1, default: 0] += 1
                        $0.syncedBytes[$1] = bytes
                    }
                }
                // The copy differs from the original only here.
                let copy = UInt(bitPattern: file.pointee.pMethods)
                let original = SQLiteFileCalls.methods.withLock { methods in methods.first { $0.value == copy }?.key }
                guard let original, let methods = UnsafePointer<sqlite3_io_methods>(bitPattern: original) else {
                    return SQLITE_MISUSE
                }
                return methods.pointee.xSync(file, flags)
            }
            methods[UInt(bitPattern: found)] = UInt(bitPattern: copy)
            return UInt(bitPattern: copy)
        }
        file.pointee.pMethods = UnsafePointer(bitPattern: copy)
    }

    /// Reads a file through SQLite: opening and closing it again would release SQLite's locks.
    private static func bytes(of file: UnsafeMutablePointer<sqlite3_file>) -> Data {
        guard let methods = file.pointee.pMethods?.pointee else { return Data() }
        var size: sqlite3_int64 = 0
        _ = methods.xFileSize(file, &size)
        var data = Data(count: Int(size))
        _ = data.withUnsafeMutableBytes { methods.xRead(file, $0.baseAddress, Int32(size), 0) }
        return data
    }
}
