#if Postgres
import Bodega

/// The table of references. See also ``ReferenceMarks``.
///
/// The first declaration creates the table, in the schema of the table of items. So a user without the right to create
/// tables can use a database without references. It names collections by their names, so that it also knows the
/// references of a collection that was removed, and to one that does not exist yet.
enum ReferenceTable {

    private static let name = "emporium_references"

    /// The commands that read the references of all collections that exist, with their indexes.
    static let linkCommands = [
        Command(
            Statement(
                """
                SELECT \(columns), r.source, c.id
                FROM \(name) AS r JOIN emporium_collections AS c ON c.name = r.source ORDER BY r.source, r.path
                """)),
        Command(ItemIndex.usable),
    ]

    /// Decodes the results of ``linkCommands``.
    ///
    /// - Returns: The references, and the numbers of the collections that have them.
    static func links(
        _ answers: [QueryResult]
    ) throws -> (links: [ReferenceLink], numbers: [ExactText: Int32]) {
        let (rows, indexes) = (answers[0], answers[1])
        var numbers: [ExactText: Int32] = [:]
        let links = try (0..<rows.count).map { row in
            let (reference, source) = (try reference(rows, row), try rows.text(row, 5))
            let number: Int32 = try rows.number(row, 6)
            numbers[ExactText(source)] = number
            let usable = reference.isList ? [] : try ItemIndex.indexes(indexes, ofCollection: number)
            let index = usable.filter { $0.isOver(reference.path) }.min { !$0.isForText && $1.isForText }
            return ReferenceLink(source: source, reference: reference, index: index)
        }
        return (links, numbers)
    }

    // MARK: Declarations

    static let exists = Statement("SELECT to_regclass('\(name)') IS NOT NULL")

    /// The references of a collection.
    static let ofCollection = Statement("SELECT \(columns) FROM \(name) AS r WHERE r.source = $1 ORDER BY r.path")

    private static let columns = "r.path, r.is_list, r.target, r.target_path, r.on_removal"

    /// Decodes a row that begins with `columns`.
    static func reference(_ rows: QueryResult, _ row: Int) throws -> StorageReference {
        StorageReference(
            try rows.text(row, 0), isList: try rows.flag(row, 1), to: try rows.text(row, 2),
            targetPath: try rows.text(row, 3),
            // A newer version of this package may do something else. An item that it would remove is not lost.
            onRemoval: StorageReference.Removal(rawValue: try rows.text(row, 4)) ?? .keep)
    }

    /// Replaces the references of a collection, and creates the table if it is missing.
    ///
    /// - Throws: ``/Bodega/StorageError/Code/placeRemoved`` if the collection does not exist.
    static func declare(
        _ references: [StorageReference], of source: String, number: Int32, _ session: Session
    ) async throws {
        // One program at a time declares, and creates the table.
        let beginning = [
            .begin, Command(ChangeStatements.lockHistory), Command(CollectionTable.exists, number), Command(exists),
            Command(schema), Command(grants),
        ]
        let answers = try await session.run(beginning)
        guard try answers[2].flag(0, 0) else { throw StorageError.collectionRemoved }
        var statements: [Command] = []
        if try !answers[3].flag(0, 0) { statements = try creation(schema: answers[4], grants: answers[5]) }
        statements.append(Command(Statement("DELETE FROM \(name) WHERE source = $1"), source))
        for reference in references {
            statements.append(
                Command(
                    insert, source, reference.path, Int16(reference.isList ? 1 : 0), reference.target,
                    reference.targetPath, reference.onRemoval.rawValue))
        }
        _ = try await session.run(statements + ReferenceMarks.replacement(concerned).map { Command($0) } + [.commit])
    }

    private static let insert = Statement("INSERT INTO \(name) VALUES ($1, $2, $3::smallint = 1, $4, $5, $6)")

    private static let schema = Statement(
        """
        SELECT n.nspname FROM pg_class AS t JOIN pg_namespace AS n ON n.oid = t.relnamespace
        WHERE t.oid = 'emporium_items'::regclass
        """)

    /// The users who may read items, and those who may write them.
    static let grants = Statement(
        """
        SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
            a.privilege_type = 'INSERT'
        FROM pg_class AS t, aclexplode(coalesce(t.relacl, acldefault('r', t.relowner))) AS a
        WHERE t.oid = 'emporium_items'::regclass AND a.privilege_type IN ('SELECT', 'INSERT')
        """)

    /// The commands that create the table, for the users of the table of items. Each of them removes items, and so
    /// reads the references.
    ///
    /// All texts are bytes, because a database's encoding need not have the characters.
    private static func creation(schema: QueryResult, grants: QueryResult) throws -> [Command] {
        let table = "\(SQLText.identifier(try schema.text(0, 0))).\(name)"
        let create = """
            CREATE TABLE \(table) (
                source bytea NOT NULL,
                path bytea NOT NULL,
                is_list boolean NOT NULL,
                target bytea NOT NULL,
                target_path bytea NOT NULL,
                on_removal text NOT NULL,
                PRIMARY KEY (source, path)
            )
            """
        let rights = try (0..<grants.count).map { row in
            let rights = try grants.flag(row, 1) ? "INSERT, DELETE" : "SELECT"
            return "GRANT \(rights) ON \(table) TO \(try grants.text(row, 0))"
        }
        return ([create] + rights).map { Command(Statement($0)) }
    }

    private static let concerned = "\(name) AS r WHERE r.on_removal <> '\(StorageReference.Removal.keep.rawValue)'"
}
#endif
