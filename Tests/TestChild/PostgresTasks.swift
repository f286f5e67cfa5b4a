import Bodega
import Boutique
import Foundation
import TestSupport

#if Postgres
import BodegaPostgres
#endif

/// A server, as reported to the process that asked for it.
private struct Place: Encodable {
    let url: String
    let programs: String
    let socketFolder: String
    let port: Int
    let user: String
}

/// Starts a server, prints where it is in one line of JSON, and removes it when the input ends.
///
/// Arguments: settings, each as NAME=VALUE.
func servePostgres(_ arguments: [String]) async throws {
    var settings: [String: String] = [:]
    for argument in arguments {
        let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { fatalError("Invalid setting \"\(argument)\": write NAME=VALUE.") }
        settings[parts[0]] = parts[1]
    }
    let server = try await PostgresServer.launch(settings: settings)
    let place = Place(
        url: server.url(),
        programs: server.programs.folder.path,
        socketFolder: server.socketFolder.path,
        port: server.port,
        user: PostgresServer.user
    )
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    say(String(decoding: try encoder.encode(place), as: UTF8.self))
    _ = FileHandle.standardInput.readDataToEndOfFile()
    try await server.remove()
}

/// Increments an asynchronous value in a collection.
///
/// Arguments: connection string, key, number of increments.
func incrementPostgresValue(_ arguments: [String]) async throws {
    #if Postgres
    let options = PostgresDatabase.Options(maximumConnections: 4, connectTimeout: 120, timeout: 240, partitions: 8)
    let engine = try await PostgresStorageEngine(connecting: arguments[0], collection: "values", options: options)
    let value = AsyncStoredValue(key: arguments[1], default: 0, storage: engine)
    for _ in 0..<(Int(arguments[2]) ?? 0) { try await value.modify { $0 += 1 } }
    say("done")
    #endif
}

/// Increments a number in two collections together, and prints each number that was acknowledged, until it is killed.
///
/// Arguments: connection string.
func writePostgresPairs(_ arguments: [String]) async throws {
    #if Postgres
    let options = PostgresDatabase.Options(maximumConnections: 2, connectTimeout: 120, timeout: 240, partitions: 8)
    let database = try await PostgresDatabase(connecting: arguments[0], options: options)
    let engines = [try await database.collection(named: "left"), try await database.collection(named: "right")]
    let key = CacheKey("a")
    while true {
        let number = try await engines[0].fetch(key: key).flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
        let batches = engines.map { engine in
            let condition = StorageCondition(key: key, data: Data("\(number)".utf8))
            let batch = StorageBatch([.write(key: key, data: Data("\(number + 1)".utf8))], if: [condition])
            return (engine: engine as any StorageBackend, batch: batch)
        }
        if try await StorageBatchGroup.apply(batches).allSatisfy(\.value.wasApplied) { say("\(number + 1)") }
    }
    #endif
}
