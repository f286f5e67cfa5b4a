// Declarations that the page mentions but does not show.

import Bodega
import Boutique
import Foundation

struct Note: Codable, Sendable { var id: String }

let engine: SQLiteStorageEngine = { fatalError() }()
let database: SQLiteStorageEngine = { fatalError() }()
let local: SQLiteStorageEngine = { fatalError() }()
let address = "postgres://app@db.example.com/notes"
let backupFile: URL = { fatalError() }()

let quote: Quote = { fatalError() }()
let storage: ObjectStorage<Quote> = { fatalError() }()
func show(_ quotes: [Quote]) {}

let picture = Data()
let video: URL = { fatalError() }()
let output: FileHandle = { fatalError() }()
let key = CacheKey("picture")

struct Index {
    func replaceAll(_ keys: [CacheKey]) {}
    func refresh(_ keys: [CacheKey]) {}
}
let index = Index()
@MainActor var cursor: StorageCursor?

struct MyStorageEngine: StorageEngine {
    init(now: @escaping @Sendable () -> Date) {}
    func write(_ data: Data, key: CacheKey) async throws {}
    func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {}
    func read(key: CacheKey) async -> Data? { nil }
    func remove(key: CacheKey) async throws {}
    func removeAllData() async throws {}
    func keyExists(_ key: CacheKey) async -> Bool { false }
    func allKeys() async -> [CacheKey] { [] }
    func createdAt(key: CacheKey) async -> Date? { nil }
    func updatedAt(key: CacheKey) async -> Date? { nil }
}
