#if Postgres
import Bodega
import Foundation

/// The table of collections, which assigns each a number.
enum CollectionTable {

    /// Returns the number of a collection, and creates it if it is missing, unless it must exist.
    static func number(
        of name: String,
        mustExist: Bool,
        in session: Session,
        patience: TimeInterval
    ) async throws -> Int32 {
        var parameters = Parameters()
        parameters.append(name.utf8)
        let find = Command(Statement("SELECT id FROM emporium_collections WHERE name = $1"), parameters)
        let create = Command(
            Statement("INSERT INTO emporium_collections (name) VALUES ($1) ON CONFLICT DO NOTHING"), parameters)
        while true {
            let found = try await session.run(find, patience: patience)
            if found.count > 0 { return try found.number(0, 0) }
            if mustExist {
                let others = try await names(in: session, patience: patience).map { "\"\($0)\"" }
                let known = others.isEmpty ? "It has none." : "There are: \(others.joined(separator: ", "))."
                throw StorageError(.cannotOpen, "The database has no collection \"\(name)\". \(known)")
            }
            // Waits for a concurrent transaction that creates the same collection.
            _ = try await session.run(create, patience: patience)
        }
    }

    /// Returns the names, in the order of the numbers.
    static func names(in session: Session, patience: TimeInterval) async throws -> [String] {
        let all = Command(Statement("SELECT name FROM emporium_collections ORDER BY id"))
        let rows = try await session.run(all, patience: patience)
        return try (0..<rows.count).map { try rows.text($0, 0) }
    }
}
#endif
