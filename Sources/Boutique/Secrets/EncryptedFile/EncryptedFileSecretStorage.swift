public import Bodega
public import Foundation

/// A storage of secrets in files, one for each secret, encrypted with AES-GCM and a key of 256 bits.
///
/// ``SecurelyStoredValue`` uses it on platforms without a keychain.
///
///     secrets/            the folder, accessible by its owner only
///       master.key        the key, readable by its owner only
///       3f9a…             a secret; the name is a keyed hash of key, service and group
///       3f9a….damaged     a file that could not be decrypted when its secret was set again
///       draft, lock       the file being written, and the lock of writers
///
/// **It protects against** other users of the machine; access to the files without `master.key`, for example in a
/// backup or a synchronized folder that excludes it; files that were changed or swapped. The files reveal only the
/// number of secrets, their lengths and modification times.
///
/// **It does not protect against** programs of the same user, and root: they can read `master.key`. Nor does it detect
/// a restored older file of the same secret. Removed secrets may stay on disk until their space is overwritten.
///
/// Writes are atomic, also if the process is killed or the power fails, and durable when they return. Any number of
/// processes may use one folder concurrently. A write that waits 30 seconds for others to finish throws a
/// ``KeychainError`` with the code `locked`. The first write creates the key. A key that is lost or damaged while there
/// are secrets is an error and is never replaced, because its secrets would become unreadable.
public struct EncryptedFileSecretStorage: SecretStorage {
    static let draftName = "draft"

    /// The folder.
    public let directory: FileManager.Directory

    /// The folder's resolved path, so that all links to one folder have one scope.
    public let scope: String

    let path: String
    private let lockTimeout: LockTimeout

    /// Creates a storage without accessing its folder.
    ///
    /// A missing folder is created, accessible by its owner only, when a secret is written. An existing folder must
    /// belong to the user and must not be writable by other users.
    ///
    /// - Parameter directory: The folder; by default, `emporium/secrets` in the user's data folder. Programs that share
    ///   it distinguish their secrets by ``SecretAddress/service``.
    public init(directory: FileManager.Directory = .applicationSupport(appendingPath: "emporium/secrets")) {
        self.init(directory: directory, lockTimeout: .standard)
    }

    init(directory: FileManager.Directory, lockTimeout: LockTimeout) {
        self.directory = directory
        self.lockTimeout = lockTimeout
        path = directory.url.fixed.standardizedFileURL.path
        scope = "files:" + FileSystem.resolvedPath(path)
    }

    public func read(_ secret: SecretAddress) throws -> Data? {
        try KeychainError.wrapping(secret) {
            guard let folder = try SecretFolder(path) else { return nil }
            return try folder.filesForReading()?.read(secret)
        }
    }

    public func write(_ data: Data, to secret: SecretAddress) throws {
        try KeychainError.wrapping(secret) {
            let folder = try SecretFolder(creating: path)
            try folder.whileLocked(lockTimeout) { try folder.filesForWriting().write(data, to: secret) }
        }
    }

    public func remove(_ secret: SecretAddress) throws {
        try KeychainError.wrapping(secret) {
            guard let folder = try SecretFolder(path), try folder.filesForReading() != nil else { return }
            try folder.whileLocked(lockTimeout) { try folder.filesForWriting().remove(secret) }
        }
    }

    public func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try SecretFolder.exclusively(path, lockTimeout, body)
    }
}
