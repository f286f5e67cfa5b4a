package import Foundation

extension DiskStorageEngine {

    /// The names of the files that count as items although nothing shows that they were written as items.
    ///
    /// Removing all items would remove them too. Files that the first Bodega wrote under verbatim keys are among them,
    /// because nothing tells them from files of other programs.
    package func unrecognizedFiles() async throws -> [String] {
        try await reading { try $0.unrecognizedFiles() }
    }
}

extension DiskFolder {

    /// The names of the files that count as items although nothing shows that they were written as items.
    func unrecognizedFiles() throws -> [String] {
        try readingMany { folder in
            try inOrder(folder) { file in
                file.record?.key == nil && !DiskName.isMadeFromKey(file.name) ? file.name : nil
            }
        }
    }

    /// The names of the SQLite databases in a folder that are no items of it.
    ///
    /// - Parameter path: Where the folder is.
    package static func databases(inFolder path: String) throws -> [String] {
        let url = URL(fileURLWithPath: path, isDirectory: true)
        let owner = DiskFolder(url: url, durability: .full, isReadOnly: true)
        return try owner.withFolder { folder in
            // Few files are beside a database, and the listing of a folder with a million items would take long.
            let names = try FileSystem.files(in: folder, limit: 100, path).filter { $0.hasSuffix(".sqlite3") }
            return try Set(names + ["data.sqlite3"]).sorted().filter { name in
                guard try StoreNature(ofPath: path + "/" + name) == .sqlite else { return false }
                return try DiskFile.open(name, in: folder, owner)?.record?.key == nil
            }
        }
    }

    /// Whether a program was stopped in the middle of a batch, or carries one out.
    ///
    /// - Parameter path: Where the folder is.
    package static func hasCommittedBatch(inFolder path: String) throws -> Bool {
        let url = URL(fileURLWithPath: path, isDirectory: true)
        let owner = DiskFolder(url: url, durability: .full, isReadOnly: true)
        return try owner.withFolder { try DiskBatch.isCommitted(in: $0, owner) }
    }
}

extension DiskName {
    /// Whether a name is one that a key's hash makes, and that hardly any other program gives to a file.
    fileprivate static func isMadeFromKey(_ name: String) -> Bool {
        if name.looksLikeGroupedMD5 { return true }
        let prefix = "emporium-"
        return name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 64
            && name.utf8.dropFirst(prefix.utf8.count).allSatisfy { hexadecimalDigits.contains($0) }
    }

    private static let hexadecimalDigits = Array("0123456789abcdef".utf8)
}
