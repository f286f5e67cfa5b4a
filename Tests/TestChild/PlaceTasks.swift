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

/// Stores an item and a value in the default storage. Reports the number of items and the file.
func useDefaultStorage() async throws {
    TemporaryStorage.useInPreviews()
    let engine = SQLiteStorageEngine.default(appendingPath: "Notes")
    try await engine.write(Data([1]), key: CacheKey("a"))
    @StoredValue(key: "size") var size = 1
    $size.set(2)
    say("\(try await engine.fetchCount()) saved")
    say(engine.file.path)
}

/// Uses temporary storage a number of times. Reports the open files after the first time, and after the last one.
func repeatTemporaryStorage(_ arguments: [String]) async throws {
    func useOnce() async throws {
        try await TemporaryStorage.use {
            let engine = SQLiteStorageEngine.default
            try await engine.write(Data([1]), key: CacheKey("a"))
            try CodableStore<Letter>(engine: .sqlite).save(Letter(id: "a"))
            try CodableStore<Letter>().save(Letter(id: "a"))
            @StoredValue(key: "size") var size = 1
            $size.set(2)
            try await engine.close()
        }
    }
    func report() throws {
        say("\(try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count)")
    }
    try await useOnce()
    try report()
    for _ in 1..<(Int(arguments[0]) ?? 1) { try await useOnce() }
    try report()
}
