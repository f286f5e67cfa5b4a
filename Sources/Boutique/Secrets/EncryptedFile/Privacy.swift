import Bodega
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Whether files are as private as secrets need them to be.
enum Privacy {

    /// Throws if a file or folder isn't this user's, or its permissions are wider than they may be.
    ///
    /// - Parameters:
    ///   - status: What the system says of it.
    ///   - allowed: The widest permissions.
    ///   - path: Its path, for the error.
    static func check(_ status: stat, allowing allowed: mode_t, _ path: String) throws {
        let problem: String
        if status.st_uid != geteuid() {
            problem = "It belongs to another user. Run the program as that user, or use another folder for the secrets."
        } else if status.st_mode & 0o777 & ~allowed != 0 {
            problem = """
                Its permissions let other users at it. Think about who has seen it, then run: \
                chmod \(status.isFile ? "600" : "700")
                """
        } else {
            return
        }
        throw KeychainError(.notPrivate, problem, file: URL(fileURLWithPath: path))
    }
}
