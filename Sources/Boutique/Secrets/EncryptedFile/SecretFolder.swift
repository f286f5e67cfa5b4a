import Bodega
import Crypto
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The open folder of an ``EncryptedFileSecretStorage``, which is closed when the object is released.
final class SecretFolder: Sendable {
    /// The identity of a folder, independent of its path.
    struct Identity: Hashable {
        let device: dev_t
        let number: ino_t
    }

    let path: String
    let descriptor: Int32
    private let identity: Identity

    /// Opens a folder; `nil` if there is none.
    convenience init?(_ path: String) throws {
        let flags = O_RDONLY | O_DIRECTORY
        guard let descriptor = try FileSystem.openIfPresent(path, in: AT_FDCWD, flags, path, absent: [ENOENT]) else {
            return nil
        }
        try self.init(path, descriptor)
    }

    /// Opens a folder, and creates it if there is none.
    convenience init(creating path: String) throws {
        try FileSystem.createDirectory(at: URL(fileURLWithPath: path, isDirectory: true))
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        try self.init(path, FileSystem.check(path, "opened") { open(path, flags) })
    }

    private init(_ path: String, _ descriptor: Int32) throws {
        self.path = path
        self.descriptor = descriptor
        var status = stat()
        let result = fstat(descriptor, &status)
        let number = errno
        identity = Identity(device: status.st_dev, number: status.st_ino)
        // From here on `deinit` closes the descriptor, also if this throws.
        if result != 0 { throw StorageError.system(number, path, "examined") }
        // Names and ciphertexts may be visible, but a user with write access could replace files.
        try Privacy.check(status, allowing: 0o755, path)
    }

    deinit {
        close(descriptor)
    }

    /// The secrets, for reading; `nil` if none has been stored yet.
    func filesForReading() throws -> SecretFiles? {
        try masterKey().map { SecretFiles(self, $0) }
    }

    /// The secrets, for writing. The folder must be locked. If no secret has been stored yet, the key is created.
    func filesForWriting() throws -> SecretFiles {
        try SecretFiles(self, masterKey() ?? MasterKey.create(in: descriptor, path))
    }

    /// Runs a closure while no other thread or process writes.
    func whileLocked<Result>(_ timeout: LockTimeout, _ body: () throws -> Result) throws -> Result {
        try SecretLock.of(identity).withLock(in: self, timeout.deadline(), body)
    }

    /// Runs a closure, whose errors are not converted, while no other thread or process writes to a folder.
    static func exclusively<Result>(_ path: String, _ timeout: LockTimeout, _ body: () throws -> Result) throws
        -> Result
    {
        let result = try KeychainError.wrapping(nil) {
            try SecretFolder(creating: path).whileLocked(timeout) { Swift.Result(catching: body) }
        }
        return try result.get()
    }

    /// The key, or `nil` if there are neither a key nor secrets.
    ///
    /// It takes no lock, so that readers never wait.
    private func masterKey() throws -> SymmetricKey? {
        if let key = try MasterKey.read(in: descriptor, path) { return key }
        let hasSecrets = try FileSystem.files(in: descriptor, path).contains(where: SecretFiles.isSecret)
        if !hasSecrets { return nil }
        // Another process may have written the first secret since; its key was created before it.
        if let key = try MasterKey.read(in: descriptor, path) { return key }
        throw KeychainError(
            .masterKeyLost,
            """
            The key of the secrets is missing, so they cannot be read. Restore \(MasterKey.name), or remove the whole \
            folder to start without the secrets.
            """,
            file: URL(fileURLWithPath: path)
        )
    }
}
