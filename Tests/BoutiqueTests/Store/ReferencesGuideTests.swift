import Bodega
import Boutique
import Foundation
import TestSupport
import Testing

/// The snippets of the guide to related items.
@MainActor
@Suite struct ReferencesGuideTests {

    struct Folder: Codable, Sendable, Identifiable { var id, name: String }

    struct Note: Queryable, Sendable, Identifiable {
        var id = UUID()
        var text = ""
        var folderID: String?

        static let references = [
            Reference("folderID", \Note.folderID, to: Folder.self, in: "folders", onRemoval: .remove)
        ]
    }

    @MainActor
    struct Library {
        let folders: Store<Folder>
        let notes: Store<Note>

        init(in folder: FileManager.Directory) async throws {
            let database = try SQLiteStorageEngine(opening: folder)
            folders = try await Store<Folder>(storage: try database.collection(named: "folders"))
            notes = try await Store<Note>(storage: try database.collection(named: "notes"))
        }
    }

    @Test("A folder goes with its notes")
    func removal() async throws {
        let folder = TemporaryFolder()
        let library = try await Library(in: folder.directory)
        try await library.folders.insert([Folder(id: "work", name: "Work"), Folder(id: "home", name: "Home")])
        try await library.notes.insert([Note(text: "a", folderID: "work"), Note(text: "b", folderID: "home"), Note()])
        try await library.folders.remove(id: "work")
        #expect(library.notes.items.map(\.text) == ["b", ""])
    }

    enum Attachments {
        struct Note: Codable, Sendable, Identifiable { var id: String }

        struct Attachment: Queryable, Sendable {
            var noteID: String
            var file: String

            static let references = [
                Reference("noteID", \Attachment.noteID, to: Note.self, in: "notes", onRemoval: .remove)
            ]
        }
    }

    @Test("A note goes with its attachments")
    func attachments() async throws {
        let folder = TemporaryFolder()
        let database = try SQLiteStorageEngine(opening: folder.directory)
        let notes = ObjectStorage<Attachments.Note>(storage: try database.collection(named: "notes"))
        let attachments = ObjectStorage<Attachments.Attachment>(storage: try database.collection(named: "attachments"))
        try await notes.store(Attachments.Note(id: "milk"), forKey: CacheKey("milk"))
        try await attachments.store(Attachments.Attachment(noteID: "milk", file: "a"), forKey: CacheKey("a"))
        try await attachments.store(Attachments.Attachment(noteID: "eggs", file: "b"), forKey: CacheKey("b"))
        try await notes.removeObject(forKey: CacheKey("milk"))
        let left = try await attachments.fetchAllObjects().objects
        #expect(left.map(\.file) == ["b"])
    }
}
