package import Foundation

/// The programs of an installed PostgreSQL server.
package struct PostgresPrograms: Sendable {
    /// The folder that contains the programs.
    package let folder: URL

    /// The path of one program.
    package func program(_ name: String) -> URL {
        folder.appendingPathComponent(name)
    }

    /// Finds the programs.
    ///
    /// - Parameters:
    ///   - path: The folders of `PATH`, searched first for the programs and for `pg_config`, which knows their folder.
    ///   - others: Further folders to search; by default those that packages of PostgreSQL use.
    /// - Throws: A ``PostgresServerError`` that says what to install if there are none.
    package static func find(
        path: String = ProcessInfo.processInfo.environment["PATH"] ?? "",
        others: [URL]? = nil
    ) throws -> PostgresPrograms {
        let path = path.split(separator: ":").map { URL(fileURLWithPath: String($0)) }
        guard let folder = (candidates(in: path) + (others ?? wellKnown())).first(where: isComplete) else {
            throw PostgresServerError(
                """
                The programs of a PostgreSQL server are not installed. bin/test installs them where it may. By hand: \
                `sudo apt-get install postgresql` on Debian and Ubuntu, `brew install postgresql@17` on a Mac; \
                elsewhere put the folder that has initdb, postgres, psql and pg_basebackup into PATH.
                """
            )
        }
        return PostgresPrograms(folder: folder)
    }

    /// On Debian, the client programs in PATH are links to a wrapper script, and the server programs are elsewhere.
    private static func candidates(in path: [URL]) -> [URL] {
        path.flatMap { folder -> [URL] in
            let server = folder.appendingPathComponent("postgres").resolvingSymlinksInPath().deletingLastPathComponent()
            let config = folder.appendingPathComponent("pg_config")
            guard FileManager.default.isExecutableFile(atPath: config.path),
                let output = try? ProgramCall(config, ["--bindir"]).runBlocking().checked().text
            else { return [server] }
            return [server, URL(fileURLWithPath: output.trimmingCharacters(in: .whitespacesAndNewlines))]
        }
    }

    /// The folders that packages use, the newest version first.
    private static func wellKnown() -> [URL] {
        let patterns = [
            ("/usr/lib/postgresql", "", "bin"),
            ("/usr", "pgsql-", "bin"),
            ("/opt/homebrew/opt", "postgresql@", "bin"),
            ("/usr/local/opt", "postgresql@", "bin"),
            ("/home/linuxbrew/.linuxbrew/opt", "postgresql@", "bin"),
            ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
            ("/usr/local", "pgsql", "bin"),
        ]
        return patterns.flatMap { parent, prefix, child in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
            return names.filter { $0.hasPrefix(prefix) }
                .sorted { $0.compare($1, options: .numeric) == .orderedDescending }
                .map { URL(fileURLWithPath: parent).appendingPathComponent($0).appendingPathComponent(child) }
        }
    }

    private static func isComplete(_ folder: URL) -> Bool {
        ["initdb", "postgres", "psql", "pg_isready", "pg_basebackup"].allSatisfy {
            FileManager.default.isExecutableFile(atPath: folder.appendingPathComponent($0).path)
        }
    }
}
