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

/// The folder of an ``EncryptedFileSecretStorage``, open until it is released.
final class SecretFolder: Sendable {
    let path: String
    let descriptor: Int32

    /// Opens a folder.
    ///
    /// - Returns: `nil` if there is none.
    convenience init?(_ path: String) throws {
        let flags = O_RDONLY | O_DIRECTORY
        guard let descriptor = try FileSystem.openIfPresent(path, in: AT_FDCWD, flags, path, absent: [ENOENT]) else {
            return nil
        }
        try self.init(path, descriptor)
    }

    /// Opens a folder, which is created if there is none.
    convenience init(creating path: String) throws {
        try FileSystem.createDirectory(at: URL(fileURLWithPath: path, isDirectory: true))
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        try self.init(path, FileSystem.check(path, "opened") { open(path, flags) })
    }

    private init(_ path: String, _ descriptor: Int32) throws {
        self.path = path
        self.descriptor = descriptor
        // From here on the descriptor is closed by deinit, also if this throws.
        var status = stat()
        try FileSystem.check(path, "examined") { fstat(descriptor, &status) }
        // Names and ciphertexts may be seen, but who can write could put files in another's place.
        try Privacy.check(status, allowing: 0o755, path)
    }

    deinit {
        close(descriptor)
    }

    /// The secrets, for reading; nobody is kept from writing meanwhile.
    ///
    /// - Returns: `nil` if nothing has been stored yet.
    func openedForReading() throws -> SecretFiles? {
        if let key = try MasterKey.read(in: descriptor, path) { return SecretFiles(self, key, lock: nil) }
        if try isNew() { return nil }
        return try MasterKey.read(in: descriptor, path).map { SecretFiles(self, $0, lock: nil) }
    }

    /// Whether nothing has been stored yet, not even a key.
    func isNew() throws -> Bool {
        if try MasterKey.read(in: descriptor, path) != nil { return false }
        // Somebody may just be writing the first secret.
        let lock = try SecretLock(in: self, writing: false)
        return try withExtendedLifetime(lock) { try masterKeyUnlessNew() == nil }
    }

    /// The secrets, for writing; other writers wait until the result is released.
    func openedForWriting() throws -> SecretFiles {
        let lock = try SecretLock(in: self, writing: true)
        let key = try masterKeyUnlessNew() ?? MasterKey.create(in: descriptor, path)
        return SecretFiles(self, key, lock: lock)
    }

    /// The key, or `nil` if there are neither a key nor secrets.
    private func masterKeyUnlessNew() throws -> SymmetricKey? {
        if let key = try MasterKey.read(in: descriptor, path) { return key }
        guard try FileSystem.files(in: descriptor, path).allSatisfy({ !SecretFiles.isSecret($0) }) else {
            throw KeychainError(
                .masterKeyLost,
                """
                There are secrets but not the key that encrypted them. Restore \(MasterKey.name), or remove the whole \
                folder to begin anew without the secrets.
                """,
                file: URL(fileURLWithPath: path)
            )
        }
        return nil
    }
}

/// A lock between processes and threads, held until it is released.
final class SecretLock: Sendable {
    private let descriptor: Int32?

    /// Waits for the lock.
    ///
    /// - Parameters:
    ///   - folder: What it is the lock of.
    ///   - writing: Whether nobody else may hold it, or only no writer.
    init(in folder: SecretFolder, writing: Bool) throws {
        let (name, path) = ("lock", folder.path + "/lock")
        if writing {
            // A file and not the folder, because network volumes lock nothing exclusively that is not open for writing.
            let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
            descriptor = try FileSystem.check(path, "opened") { openat(folder.descriptor, name, flags, 0o600) }
        } else {
            descriptor = try FileSystem.openIfPresent(
                name, in: folder.descriptor, O_RDONLY | O_NOFOLLOW, path, absent: [ENOENT])
        }
        guard let descriptor else { return }
        try FileSystem.check(path, "locked") { flock(descriptor, writing ? LOCK_EX : LOCK_SH) }
    }

    deinit {
        if let descriptor { close(descriptor) }
    }
}
