#if Postgres
import Bodega
import Foundation
import TestSupport

@testable import BodegaPostgres

/// Folders "1" and "2", and notes that name them.
struct Folders: Sendable {
    let schema: Schemas.Schema
    let database: PostgresDatabase
    let folders: PostgresStorageEngine
    let notes: PostgresStorageEngine

    static func folder(_ name: String) -> Data { Data(#"{"id":"\#(name)"}"#.utf8) }
    static func note(_ name: String, in folder: String) -> Data {
        Data(#"{"id":"\#(name)","folder":"\#(folder)","text":"\#(String(repeating: "n", count: 100))"}"#.utf8)
    }

    /// - Parameters:
    ///   - removal: What happens to notes when their folder is removed.
    ///   - url: The URL of the engines, `nil` for that of the schema.
    ///   - source: The name of the collection of the notes.
    init(
        _ removal: StorageReference.Removal = .remove, of source: String = "notes", schema: Schemas.Schema? = nil,
        url: String? = nil, options: PostgresDatabase.Options = .patient()
    ) async throws {
        self.schema = if let schema { schema } else { try await Schemas.shared.schema() }
        database = try await PostgresDatabase(connecting: url ?? self.schema.url, options: options)
        folders = try await database.collection(named: "folders")
        notes = try await database.collection(named: source)
        try await notes.declareReferences([StorageReference("folder", to: "folders", onRemoval: removal)])
        try await folders.write(["1", "2"].map { (CacheKey($0), Self.folder($0)) })
    }

    /// Adds notes to a folder.
    func add(_ count: Int, to folder: String) async throws {
        try await notes.write(
            (0..<count).map { (CacheKey("\(folder) \($0)"), Self.note("\(folder) \($0)", in: folder)) })
    }

    /// Waits until a number of transactions wait for locks of others.
    func waitUntilBlocked(_ count: Int) async throws {
        let sql = """
            SELECT count(DISTINCT l.pid) >= \(count) FROM pg_locks AS l WHERE NOT granted AND EXISTS (
                SELECT FROM pg_locks AS t WHERE t.pid = l.pid AND t.relation IN (
                    SELECT oid FROM pg_class WHERE relnamespace = '\(schema.name)'::regnamespace
                )
            )
            """
        try await waitUntil("\(count) transactions wait") { try await schema.sql(sql) == "t" }
    }

    private static let items = """
        SELECT c.name, convert_from(i.data, 'UTF8')::json AS item
        FROM emporium_items AS i JOIN emporium_collections AS c ON c.id = i.collection
        """

    /// The number of notes of each folder, `-` for none, by psql.
    func ofNotes() async throws -> [String: Int] {
        let sql = """
            SELECT coalesce(item ->> 'folder', '-'), count(*)
            FROM (\(Self.items)) AS notes WHERE name = 'notes' GROUP BY 1
            """
        let lines = try await schema.sql(sql).split(separator: "\n").map { $0.split(separator: "|") }
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), Int($0[1]) ?? -1) })
    }

    /// The notes whose folder does not exist, by psql.
    func danglingNotes() async throws -> Int {
        let sql = """
            SELECT count(*) FROM (\(Self.items)) AS notes WHERE name = 'notes' AND NOT EXISTS (
                SELECT FROM (\(Self.items)) AS folders
                WHERE folders.name = 'folders' AND folders.item ->> 'id' = notes.item ->> 'folder'
            )
            """
        return Int(try await schema.sql(sql)) ?? -1
    }
}
#endif
