import Bodega
import Foundation
import GRDB

/// Writes numbered items one by one, and prints each when it is written.
///
/// Arguments: path of the folder, prefix of the keys, number of items, 0 for no end; optionally the UUID of an origin.
func writeNumbers(_ arguments: [String]) async throws {
    let engine = try open("sqlite", arguments[0], .relaxed)
    let count = Int(arguments[2]) ?? 0
    let origin = arguments.dropFirst(3).first.flatMap(UUID.init).map(StorageOrigin.init)
    say("opened")
    for number in 0..<(count == 0 ? Int.max : count) {
        let key = CacheKey(verbatim: "\(arguments[1]) \(number)")
        try await StorageOrigin.$current.withValue(origin) {
            try await engine.write(Data("\(number)".utf8), key: key)
        }
        say(key.rawValue)
    }
}

/// The changes that a follower has received, with the cursor after them. Both are stored together, so that they are
/// always consistent.
private struct Progress: Codable {
    var cursor: StorageCursor
    var changes: [String] = []
}

/// Follows a collection until the item "end" is written, and stores the changes in a file. If the file exists, it
/// continues from there, otherwise from the current cursor.
///
/// Arguments: path of the folder, path of the file.
func follow(_ arguments: [String]) async throws {
    guard let engine = try open("sqlite", arguments[0]) as? SQLiteStorageEngine else { return }
    let file = URL(fileURLWithPath: arguments[1])
    var progress = Progress(cursor: try await engine.fetchCursor())
    if FileManager.default.fileExists(atPath: file.path) {
        progress = try JSONDecoder().decode(Progress.self, from: Data(contentsOf: file))
    }
    try JSONEncoder().encode(progress).write(to: file, options: .atomic)
    say("following")
    for try await update in engine.changes(since: progress.cursor) {
        switch update {
        case .snapshot: progress.changes.append("snapshot")
        case .changes(let delta): progress.changes += delta.changes.map { "\($0.kind) \($0.key.rawValue)" }
        }
        progress.cursor = update.cursor
        try JSONEncoder().encode(progress).write(to: file, options: .atomic)
        say("told \(progress.changes.count)")
        if progress.changes.last == "written end" { return }
    }
}

/// Writes rows with plain SQL, as another program does, each in its own transaction, and prints each.
///
/// Arguments: path of the folder, journal mode, prefix of the keys, number of rows.
func writeRows(_ arguments: [String]) throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(60)
    // Otherwise a commit could become visible long after the last event, if the disk is busy.
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
    let queue = try DatabaseQueue(path: arguments[0] + "/data.sqlite3", configuration: configuration)
    try queue.writeWithoutTransaction { db in
        let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = \(arguments[1])")
        precondition(mode == arguments[1], "The journal mode is \(mode ?? "unknown").")
        for number in 0..<(Int(arguments[3]) ?? 0) {
            try db.execute(
                sql: "INSERT INTO data (key, value, createdAt, updatedAt) VALUES (?, x'00', ?2, ?2)",
                arguments: ["\(arguments[2]) \(number)", "2024-01-01 00:00:00.000"])
            say("\(arguments[2]) \(number)")
        }
    }
}

/// Prints the current cursor.
///
/// Arguments: path of the folder.
func sayCursor(_ arguments: [String]) async throws {
    guard let engine = try open("sqlite", arguments[0]) as? SQLiteStorageEngine else { return }
    say(try await engine.fetchCursor().rawValue)
}

/// Prints the number of descriptors for system events while there are observers of many files, and then waits until
/// there are none.
///
/// Arguments: path of the folder.
func countDescriptors(_ arguments: [String]) async throws {
    let engines = try (0..<20).map {
        try SQLiteStorageEngine(opening: .init(url: URL(fileURLWithPath: "\(arguments[0])/\($0)")))
    }
    for engine in engines { _ = try await engine.fetchCursor() }
    func count() throws -> Int {
        let folder = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            // A descriptor that is closed in the meantime has no target.
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
            return target?.contains("inotify") ?? false
        }.count
    }
    for round in 0..<3 {
        var signals = (engines + engines).map { $0.changeSignals() }
        for signal in signals { for await _ in signal { break } }
        for engine in engines { try await engine.write(Data(), key: CacheKey("\(round)")) }
        say("\(try count())")
        signals = []
        let deadline = ContinuousClock.now + .seconds(120)
        while try count() > 0 {
            if ContinuousClock.now > deadline { fatalError("Descriptors stay open.") }
            await Task.yield()
        }
    }
    say("done")
}
