import Foundation

extension PostgresServer {
    /// A database of a test.
    package struct Database: Sendable {
        /// Its name.
        package let name: String
        /// Its server.
        package let server: PostgresServer

        /// The URL, with user and password.
        package var url: String { server.url(database: name) }

        /// Executes SQL with psql, see ``PostgresServer/sql(_:database:)``.
        @discardableResult
        package func sql(_ text: String) async throws -> String {
            try await server.sql(text, database: name)
        }
    }

    /// Creates an empty database, which is removed with the server.
    package func makeDatabase() async throws -> Database {
        let name = "test_\(UInt64.random(in: .min ... .max))"
        try await sql("CREATE DATABASE \(name)")
        return Database(name: name, server: self)
    }

    /// The URL of a database over TCP, with user and password.
    package nonisolated func url(database: String = PostgresServer.user) -> String {
        Self.url(of: [self], database: database)
    }

    /// The URL of a database on one of several servers. Clients try them in turn.
    package static func url(of servers: [PostgresServer], database: String = PostgresServer.user) -> String {
        let places = servers.map { "\(host):\($0.port)" }.joined(separator: ",")
        let secret = password.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return "postgresql://\(user):\(secret)@\(places)/\(database)"
    }

    /// Executes SQL with psql.
    ///
    /// - Returns: The output without titles and alignment, with columns separated by `|`, without a trailing newline.
    /// - Throws: A ``PostgresServerError`` with psql's error output if a statement fails.
    @discardableResult
    package nonisolated func sql(_ text: String, database: String = PostgresServer.user) async throws -> String {
        try await psql(place + ["--dbname", database], text)
    }

    /// Executes SQL with psql as another user.
    ///
    /// - Parameters:
    ///   - text: The SQL.
    ///   - url: The URL of the database, with the user.
    @discardableResult
    package nonisolated func sql(_ text: String, connecting url: String) async throws -> String {
        try await psql(["--dbname", url], text)
    }

    /// Dumps a database with pg_dump, as SQL.
    package nonisolated func dump(_ database: String, _ options: [String] = []) async throws -> String {
        try await command("pg_dump", options + place + ["--dbname", database]).run().checked().text
    }

    private nonisolated func psql(_ place: [String], _ text: String) async throws -> String {
        let options = ["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set", "ON_ERROR_STOP=1"]
        let answer = try await command("psql", options + place).run(input: text).checked().text
        return answer.hasSuffix("\n") ? String(answer.dropLast()) : answer
    }
}
