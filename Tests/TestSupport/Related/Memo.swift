package import Bodega
package import Foundation

/// An item that refers to others in each way.
package struct Memo: Queryable, Identifiable, Sendable, Equatable {
    package var id: Int
    package var title: String
    package var binderID: UUID?
    package var stickerIDs: [Int]
    package var author: String

    package static let indexes = [
        Index("title", \Memo.title), Index("binderID", \Memo.binderID), Index("author", \Memo.author),
    ]

    package init(_ id: Int, _ title: String = "", in binderID: UUID? = nil, stickers: [Int] = [], author: String = "") {
        (self.id, self.title, self.binderID) = (id, title, binderID)
        (stickerIDs, self.author) = (stickers, author)
    }

    package var key: CacheKey { CacheKey("\(id)") }
}

/// An item with a UUID, to which memos refer.
package struct Binder: Queryable, Identifiable, Sendable, Equatable {
    package var id: UUID
    package var name: String

    package static let indexes = [Index("name", \Binder.name)]

    package init(_ id: UUID, _ name: String) { (self.id, self.name) = (id, name) }

    package var key: CacheKey { CacheKey(id.uuidString) }
}

/// An item with a number, to which lists of memos refer.
package struct Sticker: Codable, Identifiable, Sendable, Equatable {
    package var id: Int
    package var name: String

    package init(_ id: Int, _ name: String) { (self.id, self.name) = (id, name) }

    package var key: CacheKey { CacheKey("\(id)") }
}

/// An item with a text, to which memos refer.
package struct Author: Codable, Identifiable, Sendable, Equatable {
    package var id: String
    package var age: Int

    package init(_ id: String, _ age: Int) { (self.id, self.age) = (id, age) }

    package var key: CacheKey { CacheKey(id) }
}

/// Engines of the collections of memos and of what they refer to.
package enum MemoEngines: String, CaseIterable, Sendable {
    case memory, sqlite, indexedSQLite, disk
    /// Collections of different databases.
    case apart
    /// With wrappers between the database and the collections.
    case wrapped

    /// Opens the collections in a folder, again with the same data if they are files.
    package func open(in folder: TemporaryFolder) async throws -> MemoStorages {
        let file = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let memory = MemoryStorageEngine()
        func collection(_ name: String) throws -> any StorageEngine {
            switch self {
            case .memory: memory.collection(named: name)
            case .sqlite: WithoutIndexes(base: try file.collection(named: name))
            case .indexedSQLite: try file.collection(named: name)
            case .disk:
                try DiskStorageEngine(
                    opening: FileManager.Directory(url: folder.file(name)), durability: .relaxed)
            case .apart: name == "memos" ? try file.collection(named: name) : memory.collection(named: name)
            case .wrapped:
                name == "memos"
                    ? try file.collection(named: name).cached()
                    : try file.collection(named: name).prefixed("x ").cached()
            }
        }
        let storages = MemoStorages(
            memos: ObjectStorage(storage: try collection("memos")),
            binders: ObjectStorage(storage: try collection("binders")),
            stickers: ObjectStorage(storage: try collection("stickers")),
            authors: ObjectStorage(storage: try collection("authors")))
        try await storages.memos.createIndexes()
        try await storages.binders.createIndexes()
        return storages
    }
}

/// Collections of memos, and of what they refer to.
package struct MemoStorages: Sendable {
    package let memos: ObjectStorage<Memo>
    package let binders: ObjectStorage<Binder>
    package let stickers: ObjectStorage<Sticker>
    package let authors: ObjectStorage<Author>

    package init(
        memos: ObjectStorage<Memo>, binders: ObjectStorage<Binder>, stickers: ObjectStorage<Sticker>,
        authors: ObjectStorage<Author>
    ) {
        (self.memos, self.binders, self.stickers, self.authors) = (memos, binders, stickers, authors)
    }
}

/// An engine whose queries read all items.
package struct WithoutIndexes: ForwardingStorageEngine {
    package let base: any StorageBackend
    package var indexes: (any StorageIndexes)? { nil }

    package init(base: any StorageBackend) { self.base = base }

    package func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> { try await body() }
}
