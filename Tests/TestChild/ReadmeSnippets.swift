import Bodega
import Foundation

// The snippets of the tour of Bodega that use the user's folders. They run in this process because its environment says
// where these are. A test compares them with the tour, line by line.

/// Runs the snippets, and stops at the first that doesn't do what the tour says.
///
/// Arguments: the path of a file for the backup.
func runReadmeSnippets(_ arguments: [String]) async throws {
    try await storeQuotes()
    try await useEngines(backupFile: URL(fileURLWithPath: arguments[0]))
    try await runReadmeStoreSnippets()
    print("done")
}

private func storeQuotes() async throws {
    struct Quote: Codable { var id, text: String }

    let storage = ObjectStorage<Quote>(
        storage: try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "Quotes")))

    let dolly = Quote(id: "dolly-parton", text: "Find out who you are. And do it on purpose.")
    try await storage.store(dolly, forKey: CacheKey(dolly.id))  // durable when the call returns

    let quotes = try await storage.fetchAllObjects().objects  // in the order in which they were stored

    precondition(quotes.map(\.id) == ["dolly-parton"])
    try await showUndecodable(storage)
}

private func showUndecodable<Quote>(_ storage: ObjectStorage<Quote>) async throws {
    func show(_ quotes: [Quote]) { precondition(quotes.count == 1) }

    let fetched = try await storage.fetchAllObjects()
    show(fetched.objects)
    for error in fetched.undecodable { print(error.key as Any, error.cause as Any) }
}

private func useEngines(backupFile: URL) async throws {
    // One SQLite file: the default choice.
    let database = try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "Quotes"))

    // One file per item, named as Bodega names them.
    let folder = try DiskStorageEngine(opening: .caches(appendingPath: "Pictures"), durability: .relaxed)

    // In memory: for tests, previews and caches.
    let memory = MemoryStorageEngine()

    for engine in [database, folder, memory] as [any StorageEngine] {
        let key = CacheKey("dolly-parton")
        try await engine.write(Data("Find out who you are.".utf8), key: key)

        let data = await engine.read(key: key)  // nil if there is none, or if it could not be read
        let same = try await engine.fetch(key: key)  // nil if there is none; throws if it could not be read
        assert(data == same)

        // All of it, or, if anything fails, nothing.
        try await engine.apply([
            .write(key: CacheKey("zora"), data: Data("There are years that ask questions".utf8)),
            .remove(key: key),
        ])
    }

    for engine in [database, folder, memory] as [any StorageEngine] {
        let keys = try await engine.fetchKeys()
        precondition(keys == [CacheKey("zora")])
    }
    try await useCollections(database, backupFile)
}

private func useCollections(_ database: SQLiteStorageEngine, _ backupFile: URL) async throws {
    let quotes = try database.collection(named: "Quotes")
    let drafts = try database.collection(named: "Drafts")
    try await drafts.write(Data("Find out".utf8), key: CacheKey("dolly-parton"))
    print(try await quotes.fetchCount(), try await database.collectionNames())

    try await database.backup(to: backupFile)
    let findings = try await database.examine()
    assert(findings.isEmpty)
}
