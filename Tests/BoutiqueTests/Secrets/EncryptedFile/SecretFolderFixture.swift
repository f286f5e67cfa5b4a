import Boutique
import Foundation
import TestSupport

/// An encrypted storage in a temporary folder, and access to its files.
struct SecretFolderFixture {
    let parent = TemporaryFolder()
    var url: URL { parent.file("Secrets") }
    var storage: EncryptedFileSecretStorage {
        EncryptedFileSecretStorage(directory: FileManager.Directory(url: url))
    }

    /// The names of the files of secrets, including damaged ones that were kept.
    func secretNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path).filter { $0.count >= 64 }.sorted()
    }

    /// The only file of a secret.
    func onlyFile() throws -> URL {
        let names = try secretNames()
        guard names.count == 1 else { throw StorageError(.invalidArgument, "Expected one file, found \(names)") }
        return url.appendingPathComponent(names[0])
    }

    func permissions(_ name: String = "") throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.appendingPathComponent(name).path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    func setPermissions(_ permissions: Int, _ name: String = "") throws {
        let path = url.appendingPathComponent(name).path
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }

    /// Replaces the bytes of a file without changing its permissions.
    func overwrite(_ file: URL, with data: Data) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data)
        try handle.close()
    }
}

extension SecretAddress {
    static func test(_ key: String = "token") -> SecretAddress {
        SecretAddress(key: key, service: "tests")
    }
}

/// The code of the `KeychainError` that a closure throws; `nil` if it throws none.
func keychainCode(_ body: () throws -> Void) -> KeychainError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? KeychainError)?.code
    }
}
