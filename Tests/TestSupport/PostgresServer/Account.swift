package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The user that runs the server: this user or, because PostgreSQL refuses to run as root, the user `nobody`.
package struct Account: Sendable {
    /// The prefix of a command that makes it run as this user.
    private let prefix: [String]
    /// The owner of the server's files, if not this user.
    private let owner: (user: uid_t, group: gid_t)?

    /// Finds a way to run programs without root privileges.
    ///
    /// - Throws: A ``PostgresServerError`` if this process runs as root and can't drop its privileges.
    package init() throws {
        guard geteuid() == 0 else {
            (prefix, owner) = ([], nil)
            return
        }
        guard let nobody = getpwnam("nobody")?.pointee else {
            throw PostgresServerError(
                "PostgreSQL refuses to run as root, and the user \"nobody\" does not exist.")
        }
        owner = (nobody.pw_uid, nobody.pw_gid)
        if let program = Self.find("setpriv") {
            prefix = [program, "--reuid=\(nobody.pw_uid)", "--regid=\(nobody.pw_gid)", "--clear-groups", "--"]
        } else if let program = Self.find("sudo") {
            prefix = [program, "-n", "-u", "nobody", "--"]
        } else {
            throw PostgresServerError(
                "PostgreSQL refuses to run as root. Run the tests as another user, or install setpriv or sudo.")
        }
    }

    /// A command that runs as this user.
    package func command(_ program: URL, _ arguments: [String], environment: [String: String] = [:], in folder: URL)
        -> ProgramCall
    {
        guard let first = prefix.first else {
            return ProgramCall(program, arguments, environment: environment, in: folder)
        }
        let rest = prefix.dropFirst() + [program.path] + arguments
        return ProgramCall(URL(fileURLWithPath: first), Array(rest), environment: environment, in: folder)
    }

    /// Whether this user can enter a folder, according to the permissions of the folder and its parents.
    func canEnter(_ folder: URL) -> Bool {
        guard let owner else { return true }
        var path = folder.resolvingSymlinksInPath()
        while true {
            var status = stat()
            guard stat(path.path, &status) == 0 else { return false }
            let needed = status.st_uid == owner.user ? S_IXUSR : S_IXOTH
            if status.st_mode & needed == 0 { return false }
            if path.path == "/" { return true }
            path.deleteLastPathComponent()
        }
    }

    /// Makes this user the owner of a folder, and the folder private.
    package func own(_ folder: URL) throws {
        if let owner, chown(folder.path, owner.user, owner.group) != 0 {
            throw PostgresServerError("\(folder.path) could not be given to the server's user: \(errno)")
        }
        if chmod(folder.path, 0o700) != 0 {
            throw PostgresServerError("\(folder.path) could not be made private: \(errno)")
        }
    }

    private static func find(_ name: String) -> String? {
        ["/usr/bin", "/bin", "/usr/sbin", "/usr/local/bin"].map { "\($0)/\(name)" }
            .first(where: FileManager.default.isExecutableFile)
    }
}
