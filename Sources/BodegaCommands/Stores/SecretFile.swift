import Foundation

/// A file with a secret, that only its owner can read.
struct SecretFile {
    let path: String
    let maximumSize: Int
    /// What the file is.
    let kind: String
    /// What the secret gives access to.
    let gives: String

    /// Reads the file. Instead, it can be a pipe.
    ///
    /// - Throws: A ``ToolError`` if it can't be read or is too large, or if other users can read or write it.
    func read() throws -> Data {
        let source = try DescriptorSource(path: path)
        if let status = FileStatus(path: Array(path.utf8), followingLinks: true), status.isRegular,
            status.permissions & 0o077 != 0
        {
            let mode = String(status.permissions, radix: 8)
            throw ToolError(
                .failure,
                """
                The permissions 0\(mode) of the \(kind) \(path) are too open: other users can read or change it, and \
                with it \(gives). Let only its owner read it (chmod 600 \(path)).
                """)
        }
        var window = InputWindow(source)
        while try window.readMore() {
            guard window.withUnsafeBytes({ $0.count <= maximumSize }) else {
                throw ToolError(.failure, "\(path) is too large for a \(kind).")
            }
        }
        return window.withUnsafeBytes { Data($0) }
    }
}
