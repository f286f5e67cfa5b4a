import Bodega
import CodableStoreKit
import Dispatch
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Reads one file synchronously in many blocks on Dispatch threads or in tasks, concurrently with asynchronous reads,
/// and prints the progress. The first line is the number of processors.
///
/// Arguments: path, number of blocks, `threads` or `tasks`.
func readCrowded(_ arguments: [String]) async throws {
    say("\(sysconf(Int32(_SC_NPROCESSORS_ONLN)))")
    let folder = FileManager.Directory(url: URL(fileURLWithPath: arguments[0]))
    let engine = try SQLiteStorageEngine(opening: folder, durability: .relaxed)
    let numbers = 0..<200
    try await engine.write(numbers.map { (CacheKey("\($0)"), value(of: "\($0)")) })
    let collection = SQLiteCollection(of: engine)
    let blocks = Int(arguments[1]) ?? 0
    let group = DispatchGroup()
    // All become ready simultaneously.
    let start = DispatchQueue(label: "start", attributes: [.concurrent, .initiallyInactive])
    for _ in 0..<blocks {
        group.enter()
        let read: @Sendable () -> Void = {
            do {
                for _ in 0..<5 { require(try collection.allItems().count == numbers.count) }
            } catch {
                fatalError("A synchronous read failed: \(error)")
            }
            group.leave()
        }
        if arguments[2] == "tasks" { Task { read() } } else { start.async(execute: read) }
    }
    try await withThrowingTaskGroup(of: Void.self) { tasks in
        for number in 0..<blocks {
            tasks.addTask {
                require(try await engine.fetchAll().count == numbers.count)
                let key = "\(number % numbers.count)"
                require(try await engine.fetch(key: CacheKey(key)) == value(of: key))
            }
        }
        start.activate()
        try await tasks.waitForAll()
    }
    say("asynchronous")
    await withCheckedContinuation { continuation in group.notify(queue: start) { continuation.resume() } }
    say("synchronous")
}

/// Writes an item and leaves the index of the WAL as a process that is stopped while it writes the header: the two
/// copies differ, and the lock for writing is held. A line from standard input restores it.
///
/// The layout is in SQLite's "WAL-mode File Format": two copies of 48 bytes, and the lock at byte 120.
///
/// Arguments: path, key, value.
func tearWALIndex(_ arguments: [String]) async throws {
    let folder = FileManager.Directory(url: URL(fileURLWithPath: arguments[0]))
    let engine = try SQLiteStorageEngine(opening: folder)
    try await engine.write(Data(arguments[2].utf8), key: CacheKey(verbatim: arguments[1]))
    let index = open(arguments[0] + "/data.sqlite3-shm", O_RDWR)
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    (lock.l_start, lock.l_len) = (120, 1)
    precondition(fcntl(index, F_SETLK, &lock) == 0)
    // The counter of changes in the second copy.
    var counter: UInt32 = 0
    precondition(pread(index, &counter, 4, 48 + 8) == 4)
    var other = counter &+ 1
    precondition(pwrite(index, &other, 4, 48 + 8) == 4)
    say("torn")
    _ = readLine()
    precondition(pwrite(index, &counter, 4, 48 + 8) == 4)
    lock.l_type = Int16(F_UNLCK)
    precondition(fcntl(index, F_SETLK, &lock) == 0)
    say("whole")
    _ = readLine()
    try await engine.close()
}

/// Uses an engine while no more files can be opened, and prints the error, and whether the engine works again
/// afterwards.
///
/// Arguments: engine, path.
func exhaustDescriptors(_ arguments: [String]) async throws {
    let engine = try open(arguments[0], arguments[1])
    try await engine.write(Data("a".utf8), key: CacheKey("a"))
    var limit = rlimit()
    getrlimit(descriptorLimit, &limit)
    limit.rlim_cur = 200
    precondition(setrlimit(descriptorLimit, &limit) == 0)
    var taken: [Int32] = []
    while true {
        let descriptor = dup(STDERR_FILENO)
        if descriptor < 0 { break }
        taken.append(descriptor)
    }
    // SQLite opens several files, so each limit makes it fail at another one.
    for _ in 0..<8 {
        do {
            _ = try open(arguments[0], arguments[1])
            say("opened")
        } catch {
            say("\(error)")
        }
        close(taken.removeLast())
    }
    do {
        _ = try await engine.fetchAllData()
        say("read")
    } catch {
        say("\(error)")
    }
    for descriptor in taken { close(descriptor) }
    say("\(try await engine.fetchAllData().count)")
}

#if canImport(Darwin) || canImport(Musl)
private let descriptorLimit: Int32 = RLIMIT_NOFILE
#elseif canImport(Glibc)
private let descriptorLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
#endif

private func require(_ isRight: Bool) {
    precondition(isRight)
}
