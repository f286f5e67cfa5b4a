import Bodega
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Opens the engine of a kind, `sqlite` or `disk`, at a path. A kind that ends in `-reading` opens it read-only.
func open(_ kind: String, _ path: String, _ durability: StorageDurability = .full) throws -> any StorageEngine {
    let directory = FileManager.Directory(url: URL(fileURLWithPath: path))
    switch kind {
    case "sqlite": return try SQLiteStorageEngine(opening: directory, durability: durability)
    case "disk": return try DiskStorageEngine(opening: directory, durability: durability)
    case "sqlite-reading":
        return try SQLiteStorageEngine(readingFile: directory.url.appendingPathComponent("data.sqlite3"))
    case "disk-reading": return try DiskStorageEngine(reading: directory)
    default: fatalError("unknown engine \(kind)")
    }
}

/// Prints a line immediately and atomically, even if other tasks print at the same time.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    precondition(writeOut(bytes) == bytes.count)
}

private func writeOut(_ bytes: [UInt8]) -> Int {
    write(STDOUT_FILENO, bytes, bytes.count)
}

/// Writes single items and batches concurrently, and prints each when its call has returned, for a number of rounds or
/// until it is killed.
///
/// Arguments: engine, path, durability, prefix of the keys, number of rounds.
func write(_ arguments: [String]) async throws {
    let engine = try open(arguments[0], arguments[1], arguments[2] == "full" ? .full : .relaxed)
    let (prefix, rounds) = (arguments[3], Int(arguments[4]) ?? 0)
    try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<4 {
            group.addTask {
                for round in 0..<rounds {
                    let key = "\(prefix)-\(writer)-\(round)"
                    try await engine.write(value(of: key), key: CacheKey(key))
                    say(key)
                    let names = (0..<batchSize).map { "\(key)-batch-\($0)" }
                    // Each batch also removes the previous one, so a half-applied batch leaves a mixture of both.
                    var operations = names.map { StorageOperation.write(key: CacheKey($0), data: value(of: $0)) }
                    let old = "\(prefix)-\(writer)-\(round - 1)-batch-"
                    operations += (0..<batchSize).map { .remove(key: CacheKey(old + "\($0)")) }
                    try await engine.apply(operations)
                    say("batch \(key)")
                }
            }
        }
        try await group.waitForAll()
    }
    say("done")
}

/// The number of items that a batch writes.
let batchSize = 5

/// The bytes for a key: many repetitions of the key, so that a torn value is detected.
func value(of key: String) -> Data {
    Data(String(repeating: key + ";", count: 40).utf8)
}

/// Writes under a limit on the size of files until a write fails, then lifts the limit and writes again.
///
/// Arguments: engine, path, the limit in bytes.
func fill(_ arguments: [String]) async throws {
    let engine = try open(arguments[0], arguments[1])
    let lift = limitFileSize(to: Int(arguments[2]) ?? 0)
    // Growing values reach the limit with every engine, whether its files hold one item or all.
    for number in 0..<1000 {
        let key = CacheKey("\(number)")
        do {
            try await engine.write(Data(repeating: UInt8(number % 256), count: number * 1000), key: key)
            say("written \(number)")
        } catch let error as StorageError {
            say("error \(error.code)")
            break
        }
    }
    say("count \(try await engine.fetchCount())")
    lift()
    try await engine.write(Data("after".utf8), key: CacheKey("after"))
    say("done")
}

/// Creates an index over the member "a", and prints how many items were read.
func createIndex(_ arguments: [String]) async throws {
    let engine = try open("sqlite", arguments[0])
    try await engine.backend.indexes?.createIndex(StorageIndex("a")) { count, _ in say("\(count)") }
    say("done")
}

/// Writes and removes items, brings an index for searches up to date, and prints how many rounds there were.
func updateSearch(_ arguments: [String]) async throws {
    let engine = try open("sqlite", arguments[0])
    let indexes = engine.backend.indexes
    for round in 0... {
        let operations = (0..<700).map { _ in
            let key = CacheKey(verbatim: "k\(Int.random(in: 0..<3_000))")
            if Int.random(in: 0..<4) == 0 { return StorageOperation.remove(key: key) }
            let text = (0..<4).map { _ in "w\(Int.random(in: 0..<50))" }.joined(separator: " ")
            return .write(key: key, data: Data("{\"title\":\"\(text)\"}".utf8))
        }
        _ = try await engine.backend.apply(StorageBatch(operations))
        try await indexes?.createIndex(.search(["title"])) { count, _ in say("\(count)") }
        say("round \(round)")
    }
}

/// Limits the size of files, and returns a closure that lifts the limit.
func limitFileSize(to size: Int) -> () -> Void {
    signal(SIGXFSZ, SIG_IGN)
    func set(_ size: rlim_t?) {
        var limit = rlimit()
        getrlimit(fileSizeLimit, &limit)
        limit.rlim_cur = size ?? limit.rlim_max
        precondition(setrlimit(fileSizeLimit, &limit) == 0)
    }
    set(rlim_t(size))
    return { set(nil) }
}

#if canImport(Darwin) || canImport(Musl)
private let fileSizeLimit: Int32 = RLIMIT_FSIZE
#elseif canImport(Glibc)
private let fileSizeLimit = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
#endif

/// Uses an engine as an unprivileged user, and prints the results of opening, reading and writing.
///
/// Arguments: engine, path.
func useUnprivileged(_ arguments: [String]) async throws {
    if geteuid() == 0 { precondition(setgid(65534) == 0 && setuid(65534) == 0) }
    do {
        let engine = try open(arguments[0], arguments[1])
        say("opened")
        say("count \(try await engine.fetchCount())")
        try await engine.write(Data(), key: CacheKey("new"))
        say("written")
    } catch let error as StorageError {
        say("error \(error.code)")
    }
}

/// Increments two items in one conditional batch, again and again, and prints each number when its batch was applied.
///
/// Arguments: engine, path, number of increments, 0 for no end.
func incrementPair(_ arguments: [String]) async throws {
    guard let engine = try open(arguments[0], arguments[1], .relaxed) as? any StorageBackend else {
        fatalError("\(arguments[0]) has no conditional batches")
    }
    let count = Int(arguments[2]) ?? 0
    for _ in 0..<(count == 0 ? Int.max : count) { say("\(try await increment(engine))") }
    say("done")
}

/// Increments the numbers under two keys.
private func increment(_ engine: some StorageBackend) async throws -> Int {
    let keys = [CacheKey("counter"), CacheKey("copy")]
    while true {
        let found = Dictionary(try await engine.fetch(keys: keys).map { ($0.key, $0.data) }) { $1 }
        let number = (found[keys[0]].flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0) + 1
        let isApplied = try await engine.apply(
            keys.map { .write(key: $0, data: Data("\(number)".utf8)) },
            if: keys.map { StorageCondition(key: $0, data: found[$0]) })
        if isApplied { return number }
    }
}

/// Opens an engine as an unprivileged user, loses the permission for its folder, and prints the results of reading,
/// writing and opening. The folder gets its permission back.
///
/// Arguments: engine, path.
func losePermission(_ arguments: [String]) async {
    if geteuid() == 0 { precondition(setgid(65534) == 0 && setuid(65534) == 0) }
    func report(_ name: String, _ body: () async throws -> Void) async {
        do {
            try await body()
            say("\(name) succeeded")
        } catch {
            say("\(name) \((error as? StorageError)?.code.description ?? "\(error)")")
        }
    }
    await report("all") {
        let (kind, path) = (arguments[0], arguments[1])
        let (engine, reader) = (try open(kind, path), try open(kind + "-reading", path))
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        _ = try await (engine.fetchAll(), reader.fetchAll())
        precondition(chmod(path, 0) == 0)
        defer { precondition(chmod(path, 0o700) == 0) }
        await report("fetch") { _ = try await engine.fetch(key: CacheKey("a")) }
        await report("fetchAll") { _ = try await engine.fetchAll() }
        await report("write") { try await engine.write(Data("b".utf8), key: CacheKey("b")) }
        await report("read") { _ = try await reader.fetchAll() }
        await report("open") { _ = try await open(kind, path).fetchAll() }
        await report("open-reading") { _ = try await open(kind + "-reading", path).fetchAll() }
        if kind == "sqlite" {
            let file = URL(fileURLWithPath: path + "/data.sqlite3")
            await report("open-existing") { _ = try SQLiteStorageEngine(openingFile: file, mustExist: true) }
        }
    }
}

/// Writes an item under each verbatim key that it reads, one on each line, and confirms each write. It ends with its
/// input.
///
/// Arguments: engine, path.
func hold(_ arguments: [String]) async throws {
    let engine = try open(arguments[0], arguments[1])
    say("opened")
    while let key = readLine() {
        try await engine.write(Data(key.utf8), key: CacheKey(verbatim: key))
        say("written")
    }
    try await (engine as? SQLiteStorageEngine)?.close()
}

/// Prints the number of items.
///
/// Arguments: engine, path.
func count(_ arguments: [String]) async throws {
    say("\(try await open(arguments[0], arguments[1]).fetchCount())")
}

/// Prints the paths of the standard folders.
func printDirectories() {
    say(FileManager.Directory.defaultStorageDirectory(appendingPath: "A").url.path)
    say(FileManager.Directory.caches(appendingPath: "A").url.path)
    say(FileManager.Directory.applicationSupport(appendingPath: "").url.path)
    say(SQLiteStorageEngine.default(appendingPath: "B").file.path)
}

/// Encrypts all items again with the primary key of a keyset, and prints the number of examined items after each batch.
///
/// Arguments: path of a file, path of the keyset.
func reencryptItems(_ arguments: [String]) async throws {
    let keyset = try EncryptionKeyset(json: Data(contentsOf: URL(fileURLWithPath: arguments[1])))
    let base = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: arguments[0]))
    let result = try await base.encrypted(with: keyset).reencrypt { examined, _ in say("\(examined)") }
    say("done \(result.errors.count)")
}
