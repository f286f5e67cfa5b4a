import Foundation
import GRDB

extension SQLiteStorageEngine {

    /// Examines the whole file, with all collections: its structure and its indexes, the dates and kinds of
    /// the items, and whether there are tables that belong to no collection. Also looks for the incomplete copies of
    /// interrupted backups in the file's folder.
    ///
    /// The bytes of items have no checksum, so a change of them alone is not noticed.
    public func examine() async throws -> [StorageFinding] {
        try await examineContents() + drafts()
    }

    private func drafts() async throws -> [StorageFinding] {
        try await core.onWorker { [folder = file.deletingLastPathComponent()] in
            do {
                return try SQLiteBackupDraft.stale(in: folder).map { draft in
                    let message =
                        "The file is left over from an interrupted backup. Compacting a store in its folder removes it."
                    return StorageFinding(.remark, message, file: draft)
                }
            } catch let error as StorageError where error.code == .permissionDenied {
                let message = "The folder of the file can't be listed, so it may hold incomplete backups."
                return [StorageFinding(.remark, message, file: folder)]
            }
        }
    }

    private func examineContents() async throws -> [StorageFinding] {
        let damages = try await integrityCheck().map { StorageFinding(.problem, "The file is damaged: \($0)") }
        do {
            return try await damages + core.readMany { try SQLiteExamination(db: $0).findings() }
        } catch let error as StorageError where !damages.isEmpty && error.code == .damaged {
            // The integrity check has reported it.
            return damages
        }
    }
}

/// Finds errors that SQLite can't detect.
struct SQLiteExamination {
    let db: Database

    /// The maximum number of findings that are reported individually for a collection.
    private static let limit = 100

    func findings() throws -> [StorageFinding] {
        var findings: [StorageFinding] = []
        let tables = try String.fetchAll(
            db,
            sql: "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        var known: Set = ["emporium_collections", SQLiteRowNumbers.name, SQLiteReferences.name]
        if try SQLiteTable.standard.exists(in: db) {
            known.formUnion(["data", SQLiteTable.standard.log.plainName])
            findings += try examine(.standard, "the unnamed collection")
        }
        for name in try SQLiteCollections.names(in: db) {
            guard let table = try SQLiteCollections.table(of: name, in: db), try table.exists(in: db) else {
                findings.append(.init(.problem, "The collection \"\(name)\" has lost its table. Restore a backup."))
                continue
            }
            known.formUnion([table.plainName, table.log.plainName])
            findings += try examine(table, "the collection \"\(name)\"")
        }
        for table in tables where !known.contains(table) {
            if table.hasPrefix(SQLiteIndexBuild.prefix) {
                if table.hasPrefix(SQLiteIndexBuild.prefix + "rows:") { findings.append(Self.incompleteIndex(table)) }
                continue
            }
            if table == SQLiteSearchIndex.register || table.hasPrefix(SQLiteSearchIndex.prefix) { continue }
            if try SQLiteCollections.isSpare(SQLiteTable(name: table), in: db) { continue }
            findings.append(try orphan(table))
        }
        return findings
    }

    private static func incompleteIndex(_ table: String) -> StorageFinding {
        let name = String(table.dropFirst(SQLiteIndexBuild.prefix.count + "rows:".count))
        let owner = SQLiteTable(name: String(name.prefix { $0 != ":" }))
        let index = SQLiteIndex.index(named: SQLiteIndex.prefix + name, of: owner)
        let message = """
            The index over \(index?.description ?? name) is being created, or its creation was interrupted. Create it \
            to complete it, or remove it.
            """
        return StorageFinding(.remark, message)
    }

    /// Compares the indexes for searches with the items.
    private func searchIndexes(of table: SQLiteTable) throws -> [StorageFinding] {
        let usable = try SQLiteSearchIndex.all(of: table, in: db).map(\.id)
        return try SQLiteSearchIndex.registered(of: table, in: db).compactMap { index in
            let name = "The index for searches in \(index.index)"
            if !usable.contains(index.id) {
                return .init(.remark, "\(name) is not used. Create it again, or remove it.")
            }
            if try index.hasAllTexts(in: db) { return nil }
            return .init(.problem, "\(name) is damaged, so searches can miss items. Remove it, and create it again.")
        }
    }

    private func orphan(_ table: String) throws -> StorageFinding {
        guard table.hasPrefix("emporium_") else {
            return .init(.remark, "The file also has the table \"\(table)\" of another program.")
        }
        if table.hasPrefix(SQLiteLog.prefix) {
            return .init(.remark, "The log \"\(table)\" belongs to a collection that no longer exists.")
        }
        let count = try SQLiteTable(name: table).count(in: db)
        return .init(
            .problem, "The table \"\(table)\" has \(count) items and belongs to no collection. Restore a backup.")
    }

    /// Examines the columns other than the items' data.
    private func examine(_ table: SQLiteTable, _ name: String) throws -> [StorageFinding] {
        var findings = try searchIndexes(of: table)
        let sql = "SELECT key, kind, createdAt, updatedAt, typeof(value), typeof(key) FROM \(table.name) ORDER BY rowid"
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        while try statement.step(), findings.count < Self.limit {
            let kind = statement.integer(at: 1)
            let key = SQLiteKey.key(text: statement.text(at: 0), kind: kind)
            for column in [2, 3] as [Int32] where SQLiteDate.date(of: statement.text(at: column)) == nil {
                let text = statement.text(at: column)
                let message =
                    "An item of \(name) has an invalid date, \"\(text)\". Remove the item and write it again."
                findings.append(.init(.problem, message, key: key))
            }
            if let kind, !(0...2).contains(kind) {
                let message =
                    "An item of \(name) has a key of the unknown kind \(kind). A newer version may have written it."
                findings.append(.init(.problem, message, key: key))
            }
            if statement.text(at: 4) != "blob" {
                findings.append(
                    .init(.remark, "An item of \(name) is stored as text; another program has written it.", key: key))
            }
            if statement.text(at: 5) != "text" {
                let message =
                    "An item of \(name) has a key that is not text, so it can't be read. Another program wrote it."
                findings.append(.init(.problem, message, key: key))
            }
        }
        return findings
    }
}
