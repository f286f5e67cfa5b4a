import GRDB

/// The references of a file's collections, in a table of the file.
///
/// The table is created by the first declaration. It names collections by their names, so that it also knows the
/// references of a collection that was removed, and to one that does not exist yet.
enum SQLiteReferences {

    /// The table's name.
    static let name = "emporium_references"

    /// Whether there is a table. Unlike GRDB's `tableExists`, this does not read the names of all tables.
    private static func exists(in db: Database) throws -> Bool { try !db.columnNames(of: name).isEmpty }

    /// The references of all collections, or of one.
    ///
    /// - Parameter collection: The collection's name, `nil` for all.
    static func all(
        of collection: String? = nil, in db: Database
    ) throws -> [(source: String, reference: StorageReference)] {
        guard try exists(in: db) else { return [] }
        let statement = try SQLiteStatement(
            "SELECT source, path, is_list, target, target_path, on_removal FROM main.\(name) ORDER BY rowid", in: db)
        defer { statement.reset() }
        var references: [(String, StorageReference)] = []
        while try statement.step() {
            let source = statement.text(at: 0)
            if let collection, !collection.hasSameBytes(as: source) { continue }
            // A newer version of this package may do something else. An item that it would remove is not lost.
            let removal = StorageReference.Removal(rawValue: statement.text(at: 5)) ?? .keep
            let reference = StorageReference(
                statement.text(at: 1), isList: statement.integer(at: 2) == 1, to: statement.text(at: 3),
                targetPath: statement.text(at: 4), onRemoval: removal)
            references.append((source, reference))
        }
        return references
    }

    /// Replaces the references of a collection, inside of a transaction.
    static func declare(_ references: [StorageReference], of collection: String, in db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS main.\(name) (
                    source TEXT NOT NULL, path TEXT NOT NULL, is_list INTEGER NOT NULL, target TEXT NOT NULL,
                    target_path TEXT NOT NULL, on_removal TEXT NOT NULL, PRIMARY KEY (source, path)
                )
                """)
        try run("DELETE FROM main.\(name) WHERE source = ?1", binding: [collection], in: db)
        for reference in references {
            try run(
                "INSERT INTO main.\(name) VALUES (?1, ?2, \(reference.isList ? 1 : 0), ?3, ?4, ?5)",
                binding: [
                    collection, reference.path, reference.target, reference.targetPath, reference.onRemoval.rawValue,
                ], in: db)
        }
    }

    private static func run(_ sql: String, binding texts: [String], in db: Database) throws {
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        for (index, text) in texts.enumerated() { try statement.bindCopy(of: text, at: Int32(index + 1)) }
        _ = try statement.step()
    }

    /// The references of all collections that exist, with their indexes.
    ///
    /// - Parameter target: The collection that one of them must be to; otherwise there are none.
    static func links(to target: SQLiteTable, in db: Database) throws -> (name: String, links: [ReferenceLink])? {
        let references = try all(in: db)
        guard !references.isEmpty, let name = try SQLiteCollections.name(of: target, in: db) else { return nil }
        // A name that is damaged is another one, which no reference may be to.
        if !name.isEmpty, try SQLiteCollections.table(of: name, in: db)?.name != target.name {
            try SQLiteCollections.check(in: db)
        }
        guard references.contains(where: { $0.reference.target.hasSameBytes(as: name) }) else { return nil }
        return (name, try links(references, in: db))
    }

    private static func links(
        _ references: [(source: String, reference: StorageReference)], in db: Database
    ) throws -> [ReferenceLink] {
        try references.compactMap { source, reference in
            guard let table = try SQLiteCollections.existingTable(of: source, in: db) else {
                // Its name may be damaged, and what it demands must not be ignored then.
                try SQLiteCollections.check(in: db)
                return nil
            }
            let indexes = reference.isList ? [] : try SQLiteIndex.all(of: table, in: db)
            let index = indexes.filter { $0.isOver(reference.path) }.min { !$0.isForText && $1.isForText }
            return ReferenceLink(source: source, reference: reference, index: index)
        }
    }

    /// The form of ``links(to:in:)`` for collections by their names.
    static func links(to targets: [String], in db: Database) throws -> [ReferenceLink] {
        let references = try all(in: db)
        guard references.contains(where: { entry in targets.contains { $0.hasSameBytes(as: entry.reference.target) } })
        else { return [] }
        return try links(references, in: db)
    }
}
