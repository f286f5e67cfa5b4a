#if Postgres
import Bodega
import Foundation

/// The table of collections, which assigns each a number.
///
/// The numbers ascend, but at random distances. An engine that is open while its database is dropped and created again,
/// or restored from an older backup, then finds that its collection is missing. With the next free numbers, it would
/// soon find another collection under its own, and read, overwrite and remove the items of that one.
enum CollectionTable {

    /// Returns the number of a collection, and creates it if it is missing, unless it must exist.
    static func number(of name: String, mustExist: Bool, in session: Session) async throws -> Int32 {
        let create = Command(create, name)
        while true {
            if let number = try await number(of: name, in: session) { return number }
            if mustExist {
                let others = try await names(in: session).map { "\"\($0)\"" }
                let known = others.isEmpty ? "It has none." : "There are: \(others.joined(separator: ", "))."
                throw StorageError(.cannotOpen, "The database has no collection \"\(name)\". \(known)")
            }
            // Waits for a concurrent transaction that creates the same collection.
            _ = try await session.run(create)
        }
    }

    /// The first number is among the first 2³⁰, and each next one up to a 4,096th of the rest away, which is at first
    /// some 300,000 numbers, and lasts for thousands of collections. Then the distances become 1.
    private static let create = Statement(
        """
        INSERT INTO emporium_collections (id, name) OVERRIDING SYSTEM VALUE
        SELECT coalesce(
                last + 1 + floor(random() * ((\(Int32.max) - last) / 4096)), 1 + floor(random() * \(1 << 30))
            )::integer, $1
        FROM (SELECT max(id)::bigint AS last FROM emporium_collections) AS numbers
        ON CONFLICT DO NOTHING
        """)

    /// Returns whether the collection of a number exists.
    static let exists = Statement(
        "emporium_collection_exists", "SELECT EXISTS (SELECT 1 FROM emporium_collections WHERE id = $1)")

    /// Its number if the collection of a parameter exists, otherwise NULL, which no row of the log can have.
    static func number(ifExists parameter: String) -> String {
        "(SELECT id FROM emporium_collections WHERE id = \(parameter))"
    }

    /// A row of NULLs if the collection of a parameter does not exist.
    static func nulls(_ nulls: String, ifMissing parameter: String) -> String {
        "UNION ALL SELECT \(nulls) WHERE NOT EXISTS (SELECT 1 FROM emporium_collections WHERE id = \(parameter))"
    }

    static let remove = Statement("DELETE FROM emporium_collections WHERE id = $1")

    /// Returns the number of a collection, `nil` if there is none.
    static func number(of name: String, in session: Session) async throws -> Int32? {
        let find = Command(Statement("SELECT id FROM emporium_collections WHERE name = $1"), name)
        let found = try await session.run(find)
        return found.count > 0 ? try found.number(0, 0) : nil
    }

    /// Returns the names, in the order of the numbers.
    static func names(in session: Session) async throws -> [String] {
        let all = Command(Statement("SELECT name FROM emporium_collections ORDER BY id"))
        let rows = try await session.run(all)
        return try (0..<rows.count).map { try rows.text($0, 0) }
    }
}
#endif
