import Bodega
import Boutique
import CodableStoreKit
import Foundation

/// Opens what stores items in a folder by a relative URL without a scheme, changes the working directory, and uses it.
///
/// Arguments: two folders; the second is the later working directory.
func moveToAnotherFolder(_ arguments: [String]) async throws {
    func changeFolder(_ path: String) { precondition(FileManager.default.changeCurrentDirectoryPath(path)) }
    func directory(_ path: String) -> FileManager.Directory {
        guard let url = URL(string: path) else { fatalError("\(path) is not a URL") }
        return FileManager.Directory(url: url)
    }
    changeFolder(arguments[0])
    let disk = try DiskStorageEngine(opening: directory("disk"))
    let sqlite = try SQLiteStorageEngine(opening: directory("deep/sqlite"), durability: .relaxed)
    let database = try SQLiteStorageEngine(openingFile: directory("file.db").url, durability: .relaxed)
    let reading = try SQLiteStorageEngine(readingFile: directory("file.db").url)
    let secrets = EncryptedFileSecretStorage(directory: directory("secrets"))
    let files = CodableStore<Letter>(engine: .fileSystem(in: directory("letters")))
    let rows = CodableStore<Letter>(engine: .sqlite(in: directory("rows")))
    changeFolder(arguments[1])
    for engine in [disk, sqlite, database] as [any StorageEngine] {
        // Two: the second would open another connection.
        try await engine.write(Data([1]), key: CacheKey("a"))
        async let first = engine.fetchAllData()
        async let second = engine.fetchKeys()
        say("\(try await first.count) \(try await second.count)")
    }
    say("\(try await reading.fetchCount())")
    try secrets.write(Data([1]), to: SecretAddress(key: "key", service: "tests"))
    try files.save(Letter(id: "a"))
    try rows.save(Letter(id: "a"))
    try await database.backup(to: directory("backup.db").url)
    say(disk.directory.url.path)
    say(database.file.path)
    try await sqlite.close()
}
