package import Foundation

/// The programs of an installed PostgreSQL server.
package struct PostgresPrograms: Sendable {
    /// The folder that they are in.
    package let folder: URL

    /// One of them.
    package func program(_ name: String) -> URL {
        folder.appendingPathComponent(name)
    }

    /// Looks for the programs.
    ///
    /// - Parameters:
    ///   - path: The folders of `PATH`, where they or `pg_config`, which knows where they are, are looked for first.
    ///   - others: Where else they may be; by default where packages of PostgreSQL put them.
    /// - Throws: A ``PostgresServerError`` that tells what to install if there are none.
    package static func find(
        path: String = ProcessInfo.processInfo.environment["PATH"] ?? "",
        others: [URL]? = nil
    ) throws -> PostgresPrograms {
        let path = path.split(separator: ":").map { URL(fileURLWithPath: String($0)) }
        guard let folder = (candidates(in: path) + (others ?? wellKnown())).first(where: isComplete) else {
            throw PostgresServerError(
                """
                The programs of a PostgreSQL server are not installed. bin/test installs them where it may. By hand: \
                `sudo apt-get install postgresql` on Debian and Ubuntu, `brew install postgresql@17` on a Mac; elsewhere \
                put the folder that has initdb, postgres, psql and pg_basebackup into PATH.
                """
            )
        }
        return PostgresPrograms(folder: folder)
    }

    /// Debian has the client's programs in PATH, but as links to a script of its own; the server's are elsewhere.
    private static func candidates(in path: [URL]) -> [URL] {
        path.flatMap { folder -> [URL] in
            let server = folder.appendingPathComponent("postgres").resolvingSymlinksInPath().deletingLastPathComponent()
            let config = folder.appendingPathComponent("pg_config")
            guard FileManager.default.isExecutableFile(atPath: config.path),
                let told = try? ProgramCall(config, ["--bindir"]).runBlocking().checked().text
            else { return [server] }
            return [server, URL(fileURLWithPath: told.trimmingCharacters(in: .whitespacesAndNewlines))]
        }
    }

    /// Folders that packages use, the newest version first.
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
