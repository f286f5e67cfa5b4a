public import Bodega
public import Foundation

/// Keeps secrets in files that are encrypted by AES-GCM with 256 bits, one file a secret.
///
/// It is what ``SecurelyStoredValue`` uses where there is no keychain.
///
///     secrets/            the folder, which only its owner can enter
///       master.key        the key, which only its owner can read
///       3f9a…             a secret; the name is a keyed hash of key, service and group
///       3f9a….damaged     a file that could not be read when its secret was set anew
///       draft, lock       what is being written, and who writes
///
/// **What it protects against:** other users of the machine; whoever gets the secrets' files without `master.key`, such as
/// from a backup or a synchronised folder that leaves it out; files that were changed or swapped with each other. Neither
/// names nor contents tell anything but the number of secrets, their lengths and when they were set.
///
/// **What it does not protect against:** programs that run as the same user, and root. They can read `master.key`. Nor
/// against putting back an older file of the same secret, and removed secrets may stay on the medium until it uses their
/// space again.
///
/// Secrets are set whole or not at all, also if the process is killed or the power fails; a set that has returned stays.
/// Any number of processes may use one folder at once. A process that waits 30 seconds for others to finish a change gets a
/// ``KeychainError`` with the code `locked`. The first write makes the key. A key that is lost or damaged while
/// there are secrets is an error and never replaced, because the secrets could not be read any more.
public struct EncryptedFileSecretStorage: SecretStorage {
    static let draftName = "draft"

    /// The folder.
    public let directory: FileManager.Directory

    /// The folder's path. Where links lead to one folder, storages of them have one scope.
    public let scope: String

    let path: String
    private let lockTimeout: LockTimeout

    /// Names a folder without touching it.
    ///
    /// A missing folder is created, accessible by its owner only, when a secret is written. One that is there has to
    /// belong to the user, and nobody else may be allowed to write into it.
    ///
    /// - Parameter directory: The folder; `emporium/secrets` in the user's data folder if it is left out. Programs that
    ///   share it tell their secrets apart by ``SecretAddress/service``.
    public init(directory: FileManager.Directory = .applicationSupport(appendingPath: "emporium/secrets")) {
        self.init(directory: directory, lockTimeout: .standard)
    }

    init(directory: FileManager.Directory, lockTimeout: LockTimeout) {
        self.directory = directory
        self.lockTimeout = lockTimeout
        path = directory.url.standardizedFileURL.path
        scope = "files:" + FileSystem.resolvedPath(path)
    }

    public func read(_ secret: SecretAddress) throws -> Data? {
        try KeychainError.telling(secret) {
            guard let folder = try SecretFolder(path) else { return nil }
            return try folder.filesForReading()?.read(secret)
        }
    }

    public func write(_ data: Data, to secret: SecretAddress) throws {
        try KeychainError.telling(secret) {
            let folder = try SecretFolder(creating: path)
            try folder.whileLocked(lockTimeout) { try folder.filesForWriting().write(data, to: secret) }
        }
    }

    public func remove(_ secret: SecretAddress) throws {
        try KeychainError.telling(secret) {
            guard let folder = try SecretFolder(path), try folder.filesForReading() != nil else { return }
            try folder.whileLocked(lockTimeout) { try folder.filesForWriting().remove(secret) }
        }
    }

    public func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        // What the closure throws stays what it is.
        let result = try KeychainError.telling(nil) {
            try SecretFolder(creating: path).whileLocked(lockTimeout) { Swift.Result(catching: body) }
        }
        return try result.get()
    }
}
