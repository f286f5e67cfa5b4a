import Bodega
import Crypto
import Foundation
import Logging

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Reads and writes the secrets of a folder with its key.
struct SecretFiles {
    private let folder: SecretFolder
    private let cipher: SecretCipher

    /// - Parameters:
    ///   - folder: The folder.
    ///   - masterKey: The folder's key.
    init(_ folder: SecretFolder, _ masterKey: SymmetricKey) {
        self.folder = folder
        cipher = SecretCipher(masterKey: masterKey)
    }

    /// Whether a file name is that of a secret or of a damaged secret that was kept.
    static func isSecret(_ name: String) -> Bool {
        let digits = name.prefix { $0 != "." }
        return digits.count == 64 && digits.allSatisfy(\.isHexDigit)
    }

    /// Reads a secret; `nil` if there is none.
    func read(_ secret: SecretAddress) throws -> Data? {
        try read(secret, cipher.name(of: secret))
    }

    /// Writes a secret. The folder must be locked.
    func write(_ data: Data, to secret: SecretAddress) throws {
        let name = cipher.name(of: secret)
        let draft = EncryptedFileSecretStorage.draftName
        let bytes = try cipher.seal(data, for: secret)
        let path = path(draft)
        try FileSystem.createFile(draft, in: folder.descriptor, permissions: 0o600, bytes, path) { descriptor in
            try FileSystem.synchronize(descriptor, path)
        }
        do {
            try keepAsideIfDamaged(secret, name)
            try rename(draft, name)
        } catch {
            unlinkat(folder.descriptor, draft, 0)
            throw error
        }
        try FileSystem.synchronize(folder.descriptor, folder.path)
    }

    /// Removes a secret, if there is one. The folder must be locked.
    func remove(_ secret: SecretAddress) throws {
        let name = cipher.name(of: secret)
        if unlinkat(folder.descriptor, name, 0) != 0 {
            if errno == ENOENT { return }
            throw StorageError.system(errno, path(name), "removed")
        }
        try FileSystem.synchronize(folder.descriptor, folder.path)
    }
}

extension SecretFiles {

    private func path(_ name: String) -> String { folder.path + "/" + name }

    private func read(_ secret: SecretAddress, _ name: String) throws -> Data? {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        let (folder, path) = (folder.descriptor, path(name))
        guard let descriptor = try FileSystem.openIfPresent(name, in: folder, flags, path, absent: [ENOENT]) else {
            return nil
        }
        defer { close(descriptor) }
        var status = stat()
        try FileSystem.check(path, "examined") { fstat(descriptor, &status) }
        do {
            let bytes = try status.isFile ? FileSystem.read(descriptor, size: Int(status.st_size), path) : Data()
            return try cipher.open(bytes, for: secret)
        } catch var error as KeychainError {
            error.file = URL(fileURLWithPath: path)
            throw error
        }
    }

    /// Renames a file that cannot be decrypted, so that a new secret does not overwrite it.
    private func keepAsideIfDamaged(_ secret: SecretAddress, _ name: String) throws {
        do {
            _ = try read(secret, name)
        } catch let error as KeychainError where error.code == .undecodable {
            var number = 1
            var place = name + ".damaged"
            while try FileSystem.exists(place, in: folder.descriptor, path(place)) {
                number += 1
                place = name + ".damaged-\(number)"
            }
            try rename(name, place)
            boutiqueLogger.error(
                "A damaged secret was replaced. Its file was kept.",
                metadata: ["key": "\(secret.key)", "file": "\(path(place))", "error": "\(error)"]
            )
        }
    }

    private func rename(_ old: String, _ new: String) throws {
        if renameat(folder.descriptor, old, folder.descriptor, new) != 0 {
            throw StorageError.system(errno, path(new), "written")
        }
    }
}
