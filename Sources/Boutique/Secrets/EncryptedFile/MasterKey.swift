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

/// The file with the key that encrypts the secrets of a folder.
///
/// It contains a byte for the version of the format, currently 1, then 32 random bytes, then the SHA-256 of these 33
/// bytes, which distinguishes a damaged key from damaged secrets.
enum MasterKey {
    /// The file's name.
    static let name = "master.key"

    private static let version: UInt8 = 1
    private static let size = 32

    /// Reads the key.
    ///
    /// - Parameters:
    ///   - folder: The descriptor of the folder.
    ///   - path: The folder's path, for the error.
    /// - Returns: The key; `nil` if there is none.
    static func read(in folder: Int32, _ path: String) throws -> SymmetricKey? {
        let file = path + "/" + name
        // A link could lead to a file that another user controls; opening a pipe must not block.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        guard let descriptor = try FileSystem.openIfPresent(name, in: folder, flags, file, absent: [ENOENT]) else {
            return nil
        }
        defer { close(descriptor) }
        var status = stat()
        try FileSystem.check(file, "examined") { fstat(descriptor, &status) }
        try Privacy.check(status, allowing: 0o700, file)
        let bytes = try status.isFile ? FileSystem.read(descriptor, size: Int(status.st_size), file) : Data()
        guard let key = decode(bytes) else {
            throw KeychainError(
                .masterKeyDamaged,
                """
                The key of the secrets is damaged, so they cannot be read. Restore the file, or remove the whole \
                folder to start without the secrets.
                """,
                file: URL(fileURLWithPath: file)
            )
        }
        return key
    }

    /// Creates a key, unless another process creates one concurrently.
    ///
    /// - Returns: The key in the file.
    static func create(in folder: Int32, _ path: String) throws -> SymmetricKey {
        let draft = EncryptedFileSecretStorage.draftName
        let (key, bytes) = generate()
        try FileSystem.createFile(draft, in: folder, permissions: 0o600, bytes, path + "/" + draft) { _ in }
        defer { unlinkat(folder, draft, 0) }
        do {
            let url = URL(fileURLWithPath: path, isDirectory: true)
            try FileSystem.publish(url.appendingPathComponent(draft), as: url.appendingPathComponent(name))
            return key
        } catch {
            // On a volume without working locks another process can have created it first.
            guard let key = try read(in: folder, path) else { throw error }
            return key
        }
    }

    private static func generate() -> (key: SymmetricKey, file: Data) {
        let key = SymmetricKey(size: .bits256)
        let content = [version] + key.withUnsafeBytes { Array($0) }
        return (key, Data(content) + SHA256.hash(data: content))
    }

    private static func decode(_ bytes: Data) -> SymmetricKey? {
        let content = bytes.prefix(1 + size)
        guard content.count == 1 + size, content.first == version,
            bytes.dropFirst(1 + size).elementsEqual(SHA256.hash(data: content))
        else { return nil }
        return SymmetricKey(data: content.dropFirst())
    }
}
