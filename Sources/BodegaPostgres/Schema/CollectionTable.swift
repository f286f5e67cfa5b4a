#if Postgres
import Bodega
import Foundation

/// The table of collections, which assigns each a number.
enum CollectionTable {

    /// Returns the number of a collection, and creates it if it is missing, unless it must exist.
    static func number(of name: String, mustExist: Bool, in session: Session) async throws -> Int32 {
        let create = Command(
            Statement("INSERT INTO emporium_collections (name) VALUES ($1) ON CONFLICT DO NOTHING"), name)
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
