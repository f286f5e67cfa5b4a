#if Postgres
import Bodega
import Foundation

/// The table of the collections, which gives each a number.
enum CollectionTable {

    /// The number of a collection, which is created if it is missing, unless it must exist.
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
                let known = others.isEmpty ? "" : " There are: \(others.joined(separator: ", "))."
                throw StorageError(.cannotOpen, "The database has no collection \"\(name)\".\(known)")
            }
            // Whoever else creates it at this moment is waited for.
            _ = try await session.run(create, patience: patience)
        }
    }

    /// The names, in the order of the numbers.
    static func names(in session: Session, patience: TimeInterval) async throws -> [String] {
        let all = Command(Statement("SELECT name FROM emporium_collections ORDER BY id"))
        let rows = try await session.run(all, patience: patience)
        return try (0..<rows.count).map { try rows.text($0, 0) }
    }
}
#endif
