#if Postgres
import Bodega

/// The triggers that note changed items for an index for searches.
///
/// They run once for each statement, with all of its rows, which costs a batch a fraction of what triggers for rows do.
/// A statement can name the table of items or one of its partitions, so each of them has all triggers. They run with
/// the rights of the owner, so a user needs only those on the table of items, and also where a session copies rows as a
/// replica.
///
/// A note is added without looking at others, so no writer waits for another one, or fails because of it.
enum SearchTrigger {

    enum Event: String, CaseIterable {
        case insert, update, delete, truncate

        fileprivate var transition: String {
            switch self {
            case .insert: "REFERENCING NEW TABLE AS emporium_new"
            case .update: "REFERENCING OLD TABLE AS emporium_old NEW TABLE AS emporium_new"
            case .delete: "REFERENCING OLD TABLE AS emporium_old"
            case .truncate: ""
            }
        }
    }

    /// The body of the function, in which `{schema}` stands for the schema, and `{table}` for the table of entries.
    ///
    /// All names have their schema, because the function has more rights than its callers.
    static func body(collection: Int32) -> String {
        let insert = "INSERT INTO {schema}.{table}_notes (shard, key)"
        return """

            BEGIN
                CASE TG_OP
                WHEN 'INSERT' THEN
                    \(insert) SELECT shard, key FROM emporium_new WHERE collection = \(collection);
                WHEN 'DELETE' THEN
                    \(insert) SELECT shard, key FROM emporium_old WHERE collection = \(collection);
                WHEN 'UPDATE' THEN
                    \(insert) SELECT shard, key FROM emporium_new WHERE collection = \(collection)
                    UNION SELECT shard, key FROM emporium_old WHERE collection = \(collection);
                ELSE
                    IF TG_TABLE_NAME = 'emporium_items' THEN
                        TRUNCATE {schema}.{table}, {schema}.{table}_notes;
                        UPDATE {schema}.{table}_state SET count = 0, length = 0;
                    ELSE
                        -- A partition, whose rows are not known any more.
                        \(insert) SELECT shard, key FROM {schema}.{table} AS x WHERE NOT EXISTS (
                            SELECT FROM {schema}.emporium_items AS i
                            WHERE i.collection = \(collection) AND i.shard = x.shard AND i.key = x.key);
                    END IF;
                END CASE;
                RETURN NULL;
            END
            """
    }

    /// The statements that create the function and the triggers.
    ///
    /// - Parameters:
    ///   - schema: The schema of the table of items, as the server quotes it.
    ///   - partitions: The names of the partitions.
    static func definition(of table: SearchTable, inSchema schema: String, partitions: [String]) -> [String] {
        let function = "\(schema).\(table.function)"
        let body = body(collection: table.collection).replacing("{schema}", with: schema)
            .replacing("{table}", with: table.name)
        let triggers = (["emporium_items"] + partitions).flatMap { target in
            let target = "\(schema).\(SQLText.identifier(target))"
            return Event.allCases.flatMap { event in
                let name = "\(table.name)_\(event.rawValue)"
                return [
                    """
                    CREATE TRIGGER \(name) AFTER \(event.rawValue) ON \(target) \(event.transition)
                    FOR EACH STATEMENT EXECUTE FUNCTION \(function)()
                    """,
                    "ALTER TABLE \(target) ENABLE ALWAYS TRIGGER \(name)",
                ]
            }
        }
        return [
            """
            CREATE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = pg_catalog, pg_temp AS \(SQLText.literal(body))
            """,
            "REVOKE ALL ON FUNCTION \(function)() FROM PUBLIC",
        ] + triggers
    }
}
#endif
