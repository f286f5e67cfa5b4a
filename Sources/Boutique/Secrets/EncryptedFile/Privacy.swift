import Bodega
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Checks that files are as private as secrets require.
enum Privacy {

    /// Throws if a file or folder belongs to another user, or its permissions exceed the allowed ones.
    ///
    /// - Parameters:
    ///   - status: Its status.
    ///   - allowed: The widest permissions.
    ///   - path: Its path, for the error.
    static func check(_ status: stat, allowing allowed: mode_t, _ path: String) throws {
        let problem: String
        if status.st_uid != geteuid() {
            problem = "It belongs to another user. Run the program as that user, or use another folder for the secrets."
        } else if status.st_mode & 0o777 & ~allowed != 0 {
            problem = """
                Its permissions allow access by other users. Check who may have read it, then run: \
                chmod \(status.isFile ? "600" : "700")
                """
        } else {
            return
        }
        throw KeychainError(.notPrivate, problem, file: URL(fileURLWithPath: path))
    }
}
