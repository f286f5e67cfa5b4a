import Foundation

extension DiskStorageEngine {

    /// The names of the files that count as items although no engine seems to have written them.
    ///
    /// Removing all items would remove them, too. They include files that the first Bodega wrote under verbatim keys,
    /// which cannot be distinguished from files of other programs.
    package func unrecognizedFiles() async throws -> [String] {
        try await reading { try $0.unrecognizedFiles() }
    }
}

extension DiskFolder {

    /// The names of the files that count as items although no engine seems to have written them.
    func unrecognizedFiles() throws -> [String] {
        try readingMany { folder in
            let names = try inOrder(folder) { file in file.record?.key == nil ? file.name : nil }
            // Many programs name files by random UUIDs. Bodega's names are hashes; one in 64 has the version and
            // variant of such a UUID. If most names in a folder do, the folder belongs to another program.
            let hashes = names.filter(\.isGroupedMD5)
            let random = hashes.filter(\.looksLikeRandomUUID)
            let isForeign = random.count * 2 > hashes.count
            return names.filter { !DiskName.isMadeFromKey($0) || isForeign && $0.looksLikeRandomUUID }
        }
    }

    /// The names of the SQLite databases in a folder that are not items of it.
    ///
    /// - Parameter path: The folder's path.
    package static func databases(inFolder path: String) throws -> [String] {
        let url = URL(fileURLWithPath: path, isDirectory: true)
        let owner = DiskFolder(url: url, durability: .full, isReadOnly: true)
        return try owner.withFolder { folder in
            // There are few files beside a database, and listing a folder with a million items would take long.
            let names = try FileSystem.files(in: folder, limit: 100, path)
            return try Set(names + StoreNature.databaseExtensions.map { "data.\($0)" }).sorted().filter { name in
                if DiskName.isMadeFromKey(name) { return false }
                do {
                    guard try StoreNature(ofPath: path + "/" + name) == .sqlite else { return false }
                    return try DiskFile.open(name, in: folder, owner)?.record?.key == nil
                } catch let error as StorageError where error.code == .permissionDenied {
                    // An unreadable file is taken for a database if its name says so.
                    let pathExtension = URL(fileURLWithPath: name).pathExtension.lowercased()
                    if StoreNature.databaseExtensions.contains(pathExtension) { throw error }
                    return false
                }
            }
        }
    }

    /// Whether a batch was interrupted or is being carried out.
    ///
    /// - Parameter path: The folder's path.
    package static func hasCommittedBatch(inFolder path: String) throws -> Bool {
        let url = URL(fileURLWithPath: path, isDirectory: true)
        let owner = DiskFolder(url: url, durability: .full, isReadOnly: true)
        return try owner.withFolder { try DiskBatch.isCommitted(in: $0, owner) }
    }
}

extension DiskName {
    /// Whether a name is derived from a key's hash, in a form that hardly any other program uses.
    static func isMadeFromKey(_ name: String) -> Bool {
        if name.isGroupedMD5 { return true }
        let prefix = "emporium-"
        return name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 64
            && name.utf8.dropFirst(prefix.utf8.count).allSatisfy { hexadecimalDigits.contains($0) }
    }

    private static let hexadecimalDigits = Array("0123456789abcdef".utf8)
}

extension String {
    /// Whether the string has the form of ``groupedMD5``, in upper-case digits.
    fileprivate var isGroupedMD5: Bool { looksLikeGroupedMD5 && utf8.allSatisfy { $0 < UInt8(ascii: "a") } }

    /// Whether the string has the version and the variant of a random UUID: RFC 4122, section 4.4.
    var looksLikeRandomUUID: Bool {
        let digits = Array(utf8)
        return looksLikeGroupedMD5 && digits[14] == UInt8(ascii: "4") && "89AB".utf8.contains(digits[19])
    }
}
