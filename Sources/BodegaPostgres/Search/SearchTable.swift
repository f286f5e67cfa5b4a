#if Postgres
import Bodega
import Crypto
import Foundation

/// The tables of an index for searches: their names, and what the catalogs of the server have of them.
///
/// - `…`: an entry for each item with texts: the item's place in the table of items, and its texts as `StoredWords`.
///   It has an index for the words, which is created last: without it, the search index is not complete.
/// - `…_notes`: the items whose entries are missing or old. Triggers add to it. So any program can write, and a
///   search reads these items. A note that is kept is that of an item that has no entry: its texts are too large.
/// - `…_state`: the number of entries, the length of their texts, and while the index is created, up to which position
///   items have entries.
///
/// The name has the version of their form, the number of the collection, and a hash of the paths, and the comment of
/// the first one has the paths.
struct SearchTable: Sendable {

    let index: StorageIndex
    let collection: Int32

    /// The version of the form of the tables, and of the words in them.
    private static let version = 1
    /// The start of the names of this version.
    private static let prefix = "emporium_search_\(version)_"
    private static let commentStart = "search: "

    /// The name of the table of entries, of at most 46 bytes. No name has to be quoted.
    var name: String {
        "\(Self.prefix)\(collection)_\(SHA256.hash(data: Data(description.utf8)).prefix(8).hexadecimal)"
    }
    var notes: String { name + "_notes" }
    var state: String { name + "_state" }
    /// The name of the index for the words.
    var words: String { name + "_words" }
    /// The name of the function that the triggers call.
    var function: String { name + "_note" }

    var comment: String { Self.commentStart + description }

    /// The form and the paths, in JSON.
    private var description: String {
        do {
            let parts = [index.searchForm?.rawValue ?? ""] + index.members.map(\.path)
            return String(decoding: try JSONEncoder().encode(parts), as: UTF8.self)
        } catch {
            preconditionFailure("Texts can be encoded.")
        }
    }

    /// Checks that the server can have the index.
    func check() throws {
        guard index.searchForm == .words, index.members.count <= Self.maximumMembers else {
            throw StorageError(
                .invalidArgument,
                """
                PostgreSQL can't have the search index \(index): it can index words in up to \(Self.maximumMembers) \
                paths. Without an index, a search reads all items.
                """)
        }
        if index.members.contains(where: { $0.path.unicodeScalars.contains("\0") }) {
            throw StorageError(
                .invalidArgument, "PostgreSQL can't have an index over a path with the character U+0000.")
        }
    }

    static let maximumMembers = 64

    /// The item of a row with a shard and a key, as `i`. It is looked up for each row, which the server's statistics
    /// could prevent.
    func item(of row: String) -> String {
        """
        LATERAL (
            SELECT * FROM emporium_items AS i
            WHERE i.collection = \(collection) AND i.shard = \(row).shard AND i.key = \(row).key OFFSET 0) AS i
        """
    }

    // MARK: Catalogs

    /// What there is of an index.
    struct Found: Sendable {
        let index: StorageIndex
        /// Whether the triggers note all changes, and the user may read the tables.
        let isValid: Bool
        let isComplete: Bool
    }

    /// A query for the names and comments of the indexes of a collection that searches can use.
    static func usable(ofCollection collection: Int32) -> String {
        "SELECT name, comment FROM (\(all(ofCollection: collection))) AS found WHERE is_valid AND is_complete"
    }

    /// A command that finds all indexes of a collection.
    static func find(ofCollection collection: Int32) -> Command {
        Command(Statement(all(ofCollection: collection)))
    }

    /// A server that follows another one by logical replication runs no triggers of statements.
    private static func all(ofCollection collection: Int32) -> String {
        """
        SELECT c.relname AS name, d.description AS comment,
            pg_has_role(c.relowner, t.relowner, 'MEMBER') AND has_table_privilege(c.oid, 'SELECT')
            AND coalesce(has_table_privilege(to_regclass(quote_ident(n.nspname) || '.' || c.relname || '_notes'),
                'SELECT'), false)
            AND coalesce(has_table_privilege(to_regclass(quote_ident(n.nspname) || '.' || c.relname || '_state'),
                'SELECT'), false)
            AND (
                SELECT count(*) FROM pg_trigger AS g JOIN pg_proc AS p ON p.oid = g.tgfoid
                WHERE g.tgrelid IN (SELECT t.oid UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = t.oid)
                    AND starts_with(g.tgname::text, c.relname || '_') AND g.tgenabled = 'A' AND p.prosecdef
                    AND p.prosrc = replace(replace(
                        \(SQLText.literal(SearchTrigger.body(collection: collection))),
                        '{schema}', quote_ident(n.nspname)), '{table}', c.relname)
            ) = \(SearchTrigger.Event.allCases.count) * (1 + (SELECT count(*) FROM pg_inherits WHERE inhparent = t.oid))
            AND NOT EXISTS (
                SELECT FROM pg_subscription_rel AS s
                WHERE s.srrelid IN (SELECT t.oid UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = t.oid)
            ) AS is_valid,
            EXISTS (
                SELECT FROM pg_index AS i JOIN pg_class AS w ON w.oid = i.indexrelid
                WHERE i.indrelid = c.oid AND i.indisvalid AND w.relname = c.relname || '_words'
            ) AS is_complete
        FROM pg_class AS t JOIN pg_namespace AS n ON n.oid = t.relnamespace
        JOIN pg_class AS c ON c.relnamespace = t.relnamespace AND c.relkind = 'r'
        JOIN pg_description AS d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass AND d.objsubid = 0
        WHERE t.oid = 'emporium_items'::regclass
            AND c.relname > '\(prefix)\(collection)_' AND c.relname < '\(prefix)\(collection)`'
        """
    }

    /// Decodes the result of ``usable(ofCollection:)``, in which there may be others.
    static func indexes(_ rows: QueryResult, ofCollection collection: Int32) throws -> Set<StorageIndex> {
        Set(
            try (0..<rows.count).compactMap {
                try index(named: rows.text($0, 0), comment: rows.text($0, 1), ofCollection: collection)
            })
    }

    /// Decodes the result of ``find(ofCollection:)``.
    static func found(_ rows: QueryResult, ofCollection collection: Int32) throws -> [Found] {
        try (0..<rows.count).compactMap { row in
            try index(named: rows.text(row, 0), comment: rows.text(row, 1), ofCollection: collection).map {
                Found(index: $0, isValid: try rows.flag(row, 2), isComplete: try rows.flag(row, 3))
            }
        }
    }

    /// The index of a table with a name and a comment, `nil` if it is none, or the comment was changed.
    static func index(named name: String, comment: String, ofCollection collection: Int32) throws -> StorageIndex? {
        guard comment.utf8.starts(with: commentStart.utf8) else { return nil }
        let parts: [String]
        do {
            parts = try JSONDecoder().decode([String].self, from: Data(comment.utf8.dropFirst(commentStart.utf8.count)))
        } catch {
            return nil
        }
        guard parts.count > 1, let form = SearchForm(rawValue: parts[0]) else { return nil }
        let index = StorageIndex.search(Array(parts.dropFirst()), form: form)
        return SearchTable(index: index, collection: collection).name == name ? index : nil
    }
}
#endif
