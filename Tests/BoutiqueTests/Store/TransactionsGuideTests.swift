import Bodega
import Boutique
import Foundation
import TestSupport
import Testing

/// The snippets of the README and of the guide to transactions over several collections.
@MainActor
@Suite struct TransactionsGuideTests {

    struct Note: Codable, Sendable, Identifiable { var id, text: String }

    @MainActor
    struct Notebook {
        let drafts: Store<Note>
        let notes: Store<Note>

        init(in folder: FileManager.Directory) async throws {
            let database = try SQLiteStorageEngine(opening: folder)
            drafts = try await Store<Note>(storage: try database.collection(named: "drafts"))
            notes = try await Store<Note>(storage: try database.collection(named: "notes"))
        }

        func publish(_ id: String) async throws {
            try await drafts.transaction(with: notes) { drafts, notes in
                guard let draft = drafts[id] else { return }
                notes.insert(draft)
                drafts.remove(draft)
            }
        }
    }

    @Test("A note is published")
    func publishing() async throws {
        let folder = TemporaryFolder()
        let book = try await Notebook(in: folder.directory)
        try await book.drafts.insert(Note(id: "milk", text: "Buy milk"))
        try await book.publish("milk")
        #expect(book.drafts.items.isEmpty)
        #expect(book.notes.items.map(\.text) == ["Buy milk"])
        let (drafts, notes) = (book.notes, book.drafts)
        try await drafts.transaction(with: notes) { drafts, notes in
            guard let draft = drafts["milk"] else { return }
            notes.insert(draft)
            drafts.remove(draft)
        }
        #expect(book.drafts.items.map(\.id) == ["milk"])
        #expect(book.notes.items.isEmpty)
    }

    @Test("Units are moved")
    func moving() async throws {
        let folder = TemporaryFolder()
        let database = try SQLiteStorageEngine(opening: folder.directory)
        let storages = try ["a", "b"].map { ObjectStorage<Bank.Account>(storage: try database.collection(named: $0)) }
        let key = CacheKey("ada")
        for storage in storages { try await storage.store(Bank.Account(units: 10), forKey: key) }
        try await Bank().move(3, of: key, from: storages[0], to: storages[1], in: database)
        #expect(try await storages[0].fetchObject(forKey: key)?.units == 7)
        #expect(try await storages[1].fetchObject(forKey: key)?.units == 13)
    }
}

private struct Bank {
    struct Account: Codable, Sendable { var units: Int }

    func move(
        _ units: Int, of key: CacheKey, from: ObjectStorage<Account>, to: ObjectStorage<Account>,
        in database: SQLiteStorageEngine
    ) async throws {
        try await database.transaction { transaction in
            try await transaction.update(forKey: key, in: from) { $0.units -= units }
            try await transaction.update(forKey: key, in: to) { $0.units += units }
        }
    }
}
