#if Postgres
import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// The configurations of the engine for the conformance suite.
enum Engines {

    static let all = [
        configuration("PostgreSQL") { $0.url },
        configuration("PostgreSQL, as a user with rights on rows only") { try await $0.urlOfWriter() },
        configuration("PostgreSQL, with a log from a dump", isRestored: true) { $0.url },
    ]

    /// An engine on a collection that was created between two others. It must not see their items.
    ///
    /// - Parameters:
    ///   - name: The name in reports.
    ///   - isRestored: Whether the log has transaction numbers of another server when the engine is first opened.
    ///   - url: Returns the URL and user of the engine, once the tables exist.
    private static func configuration(
        _ name: String,
        isRestored: Bool = false,
        url: @escaping @Sendable (Schemas.Schema) async throws -> String
    ) -> StorageEngineConformance.Configuration {
        var configuration = StorageEngineConformance.Configuration(name) { workspace in
            let place = try await Schemas.shared.schema(of: workspace)
            let options = PostgresDatabase.Options.patient()
            let isNew = try await place.sql("SELECT to_regclass('emporium_meta') IS NULL") == "t"
            let owner = try await PostgresDatabase(connecting: place.url, options: options)
            for name in ["before", "after"] {
                let other = try await owner.collection(named: name)
                try await other.write(Data("of another collection".utf8), key: CacheKey("a"))
            }
            if isNew, isRestored {
                try await place.sql(
                    """
                    UPDATE emporium_meta SET value = value WHERE name = 'home';
                    UPDATE emporium_changes SET transaction = (transaction::text::bigint + 1000000)::text::xid8;
                    """
                )
            }
            let database = try await PostgresDatabase(connecting: url(place), options: options)
            return try await database.collection(named: workspace.identifier, now: workspace.clock.now)
        }
        configuration.refuseOperation = { _, workspace in
            // The key is a byte for the kind and "refused".
            try await Schemas.shared.schema(of: workspace).sql(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
                CREATE TRIGGER refusal BEFORE INSERT ON emporium_items FOR EACH ROW
                WHEN (NEW.key = '\\x0072656675736564') EXECUTE FUNCTION refuse();
                """
            )
            return .write(key: CacheKey("refused"), data: Data())
        }
        configuration.breakStorage = { _, workspace in
            try await Schemas.shared.schema(of: workspace).sql("DROP TABLE emporium_items")
        }
        configuration.openCollection = { engine, name in
            try await #require(engine as? PostgresStorageEngine).collection(named: name)
        }
        configuration.discard = { workspace in
            try await Schemas.shared.schema(of: workspace).drop()
        }
        return configuration
    }
}

extension PostgresDatabase.Options {
    /// Options with fewer connections and longer time limits than the default ones, for a busy machine.
    static func patient(
        maximumConnections: Int = 4,
        partitions: Int = 8,
        changeLogLimit: Int = 100_000
    ) -> PostgresDatabase.Options {
        var options = PostgresDatabase.Options(
            maximumConnections: maximumConnections,
            connectTimeout: 120,
            timeout: 240,
            partitions: partitions,
            changeLogLimit: changeLogLimit
        )
        // So that tests can trim the log.
        options.requestAge = 0
        return options
    }
}

/// Schemas of one database, each with its own tables. Creating a schema is faster than creating a database.
actor Schemas {
    static let shared = Schemas()

    struct Schema: Sendable {
        let name: String
        let database: PostgresServer.Database

        var url: String { database.url + "?options=-csearch_path%3D\(name)" }

        @discardableResult
        func sql(_ text: String) async throws -> String {
            try await database.sql("SET search_path TO \(name); \(text)")
        }

        /// Ends server processes that work for a program, and returns how many were ended.
        ///
        /// - Parameters:
        ///   - application: The name that the program states.
        ///   - limit: The number after which no more are ended.
        ///   - isOver: Whether the program has come to its end.
        func endProcesses(of application: String, upTo limit: Int, until isOver: () -> Bool) async throws -> Int {
            let end = """
                SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE application_name = '\(application)' AND state <> 'idle'
                """
            var ended = 0
            while ended < limit, !isOver() { ended += Int(try await sql(end)) ?? 0 }
            return ended
        }

        /// The URL for a user with the rights in the guide. The tables must exist.
        func urlOfWriter() async throws -> String {
            try await sql(
                """
                DO $$ BEGIN CREATE ROLE writer LOGIN PASSWORD 'pa55';
                EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
                GRANT USAGE ON SCHEMA \(name) TO writer;
                GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(name) TO writer;
                GRANT USAGE ON ALL SEQUENCES IN SCHEMA \(name) TO writer;
                """
            )
            let rest = url.split(separator: "@").dropFirst().joined(separator: "@")
            return "postgresql://writer:pa55@\(rest)"
        }

        func drop() async throws {
            try await database.sql("SET client_min_messages TO error; DROP SCHEMA \(name) CASCADE")
        }
    }

    private let database = Task { try await PostgresServer.shared().makeDatabase() }
    private var schemas: [String: Task<Schema, any Error>] = [:]

    func schema(of workspace: StorageEngineConformance.Workspace) async throws -> Schema {
        try await schema(named: workspace.identifier)
    }

    func schema(named name: String = "s" + UUID().uuidString.lowercased().filter { $0 != "-" }) async throws -> Schema {
        let making =
            schemas[name]
            ?? Task { [database] in
                let database = try await database.value
                try await database.sql("CREATE SCHEMA \(name)")
                return Schema(name: name, database: database)
            }
        schemas[name] = making
        return try await making.value
    }
}

@Test(arguments: Engines.all.map(sharing).flatMap(StorageEngineConformance.checks(for:)))
func `The PostgreSQL engine conforms to the contract`(_ check: StorageEngineConformance.Case) async throws {
    try await check.run()
}

@Test(arguments: Engines.all)
func `The PostgreSQL engine has a log and indexes`(_ configuration: StorageEngineConformance.Configuration) async throws
{
    let engine = try await configuration.makeEngine(StorageEngineConformance.Workspace()).backend
    #expect(engine.log != nil && engine.indexes != nil)
    #expect(engine.traits == [.atomic, .conditional, .dated, .stablePositions])
}

private func sharing(
    _ configuration: StorageEngineConformance.Configuration
) -> StorageEngineConformance.Configuration {
    var configuration = configuration
    configuration.capabilities.insert(.shared)
    return configuration
}

private let modelTests: [StorageEngineModelTest] = {
    print("model test: EMPORIUM_SEED=\(Seed.current)")
    return Engines.all.map { StorageEngineModelTest($0, seed: Seed.current, steps: TestSizes.modelSteps / 3) }
}()

@Test(arguments: modelTests)
func `The PostgreSQL engine and a dictionary agree after any operations`(_ test: StorageEngineModelTest) async throws {
    try await test.run()
}
#endif
