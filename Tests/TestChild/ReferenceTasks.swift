import Bodega
import BodegaTesting
import Foundation
import TestSupport

#if Postgres
import BodegaPostgres
#endif

/// Collections of folders, and of notes that go with their folder.
///
/// - Parameter place: The path of an SQLite file, or the URL of a PostgreSQL database.
private func openFolders(_ place: String) async throws -> (folders: any StorageBackend, notes: any StorageBackend) {
    let (folders, notes): (any StorageBackend, any StorageBackend)
    if place.hasPrefix("postgres") {
        #if Postgres
        let options = PostgresDatabase.Options(maximumConnections: 2, connectTimeout: 120, timeout: 240)
        let database = try await PostgresDatabase(connecting: place, options: options)
        (folders, notes) = (
            try await database.collection(named: "folders"), try await database.collection(named: "notes")
        )
        #else
        fatalError("This program has no PostgreSQL.")
        #endif
    } else {
        let database = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: place))
        (folders, notes) = (try database.collection(named: "folders"), try database.collection(named: "notes"))
    }
    try await notes.references?.declareReferences([StorageReference("folder", to: "folders", onRemoval: .remove)])
    try await notes.indexes?.createIndex(StorageIndex("folder"))
    return (folders, notes)
}

private func note(_ number: Int, in folder: String) -> StorageOperation {
    let text = String(repeating: "n", count: 100)
    return .write(
        key: CacheKey(verbatim: "\(folder)-\(number)"), data: Data(#"{"folder":"\#(folder)","text":"\#(text)"}"#.utf8))
}

/// Adds folders with notes, each in a transaction, removes them, and prints what was done, until it is killed.
///
/// Arguments: place, prefix of the folders, seed, number of notes in a folder.
func removeFolders(_ arguments: [String]) async throws {
    let (folders, notes) = try await openFolders(arguments[0])
    var random = SeededGenerator(seed: UInt64(arguments[2]) ?? 0)
    var names: [String] = []
    for number in 0... {
        let name = "\(arguments[1])-\(number)"
        let folder = StorageOperation.write(key: CacheKey(verbatim: name), data: Data(#"{"id":"\#(name)"}"#.utf8))
        let content = (0..<(Int(arguments[3]) ?? 0)).map { note($0, in: name) }
        _ = try await StorageBatchGroup.apply([
            (engine: folders, batch: StorageBatch([folder])), (engine: notes, batch: StorageBatch(content)),
        ])
        say("added \(name)")
        names.append(name)
        if names.count < 3 { continue }
        for _ in 0..<2 {
            let name = names.remove(at: Int.random(in: 0..<names.count, using: &random))
            say("removing \(name)")
            try await folders.remove(key: CacheKey(verbatim: name))
            say("removed \(name)")
        }
    }
}

/// Fills two folders with notes, and removes one. Prints `begun`, then how long it took in milliseconds, and by how
/// many bytes the process grew.
///
/// Arguments: place, number of notes in each folder.
func removeFolder(_ arguments: [String]) async throws {
    let (folders, notes) = try await openFolders(arguments[0])
    let count = Int(arguments[1]) ?? 0
    for folder in ["kept", "removed"] {
        try await folders.write(Data(#"{"id":"\#(folder)"}"#.utf8), key: CacheKey(verbatim: folder))
        for start in stride(from: 0, to: count, by: 10_000) {
            let part = (start..<min(start + 10_000, count)).map { note($0, in: folder) }
            _ = try await notes.apply(StorageBatch(part))
        }
    }
    let before = try kilobytes("VmRSS")
    try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    say("begun")
    let start = ContinuousClock.now
    _ = try await folders.apply(StorageBatch([.remove(key: CacheKey(verbatim: "removed"))]))
    let duration = (ContinuousClock.now - start) / .milliseconds(1)
    say("\(Int(duration)) \((try kilobytes("VmHWM") - before) * 1_024)")
}
