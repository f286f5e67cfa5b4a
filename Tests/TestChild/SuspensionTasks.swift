import Bodega
import Boutique
import CodableStoreKit
import Dispatch
import Foundation
import GRDB
import TestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Uses storage of all kinds from many tasks, and suspends and resumes it as the input says.
///
/// Each line of the input is a number, of the operations after which to suspend; an odd number blocks a thread. When
/// the locks are released, this prints the microseconds that it took, and resumes after the next line. At the end of
/// the input, it ends the load and prints what its followers know.
///
/// The keys of acknowledged writes are appended to the file `acknowledged` in the folder, each on a line.
///
/// Arguments: folder.
func suspendRepeatedly(_ arguments: [String]) async throws {
    let load = try await SuspendedLoad(URL(fileURLWithPath: arguments[0], isDirectory: true))
    let tasks = await load.start()
    say("ready")
    while let line = readLine(), let count = Int(line) {
        await load.waitForOperations(count)
        let start = DispatchTime.now()
        if count.isMultiple(of: 2) {
            await StorageSuspension.suspend()
        } else {
            await Task.detached { StorageSuspension.suspendBlocking() }.value
        }
        let end = DispatchTime.now()
        say("\((end.uptimeNanoseconds - start.uptimeNanoseconds) / 1000)")
        _ = readLine()
        StorageSuspension.resume()
    }
    load.end()
    for task in tasks { try await task.value }
    try await load.report()
}

/// The load of a process that is suspended.
private final class SuspendedLoad: Sendable {
    private let folder: URL
    private let acknowledged: Int32
    private let sqlite: SQLiteStorageEngine
    private let reading: SQLiteStorageEngine
    private let small: SQLiteStorageEngine
    private let disk: DiskStorageEngine
    private let letters: CodableStore<Letter>
    private let store: Store<Account>
    private let followed = Locked<Set<String>>([])
    private let state = Locked(State())

    private struct State {
        var operations = 0
        var target = Int.max
        var isOver = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    init(_ folder: URL) async throws {
        func directory(_ name: String) -> FileManager.Directory {
            FileManager.Directory(url: folder.appendingPathComponent(name))
        }
        self.folder = folder
        acknowledged = open(folder.path + "/acknowledged", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        precondition(acknowledged >= 0)
        sqlite = try SQLiteStorageEngine(opening: directory("sqlite"))
        try await sqlite.write(Data(), key: CacheKey("first"))
        reading = try SQLiteStorageEngine(readingFile: sqlite.file)
        small = try SQLiteStorageEngine(opening: directory("small"), durability: .relaxed)
        disk = try DiskStorageEngine(opening: directory("disk"), durability: .relaxed)
        letters = CodableStore<Letter>(engine: .sqlite(in: directory("letters")))
        store = try await Store<Account>(storage: SQLiteStorageEngine(opening: directory("store")))
    }

    func end() { state.withLock { $0.isOver = true } }

    /// Waits for a number of operations.
    func waitForOperations(_ count: Int) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.target = state.operations + count
                state.waiting = continuation
            }
            noteOperations(0)
        }
    }

    private func noteOperations(_ count: Int = 1) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.operations += count
            guard state.operations >= state.target else { return nil }
            state.target = .max
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    private func acknowledge(_ lines: [String]) {
        let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
        precondition(write(acknowledged, bytes, bytes.count) == bytes.count)
        noteOperations()
    }

    /// Runs operations until the end of the load.
    private func repeating(
        _ body: @escaping @Sendable (SuspendedLoad, Int) async throws -> Void
    ) -> Task<Void, any Error> {
        Task.detached { [self] in
            var number = 0
            while !state.withLock({ $0.isOver }) {
                try await body(self, number)
                number += 1
            }
        }
    }

    /// Runs blocking operations until the end of the load, on a thread of their own. One that fails because storage is
    /// suspended is repeated.
    private func repeatingOnThread(
        _ body: @escaping @Sendable (SuspendedLoad, Int) throws -> Void
    ) -> Task<Void, any Error> {
        Task.detached { [self] in
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                Thread.detachNewThread { continuation.resume(with: Result { try self.runOnThread(body) }) }
            }
        }
    }

    private func runOnThread(_ body: (SuspendedLoad, Int) throws -> Void) throws {
        var number = 0
        while !state.withLock({ $0.isOver }) {
            do {
                try body(self, number)
                number += 1
            } catch let error as StorageError where error.code == .suspended {
                sched_yield()
            } catch let error as KeychainError where error.code == .suspended {
                sched_yield()
            }
        }
    }

    func start() async -> [Task<Void, any Error>] {
        let process = getpid()
        var tasks: [Task<Void, any Error>] = []
        for writer in 0..<2 {
            tasks.append(
                repeating { load, number in
                    let key = "single-\(process)-\(writer)-\(number)"
                    try await load.sqlite.write(value(of: key), key: CacheKey(key))
                    load.acknowledge(["sqlite \(key)"])
                })
        }
        tasks.append(
            repeating { load, number in
                let keys = (0..<(number.isMultiple(of: 8) ? 20_000 : 50)).map { "batch-\(process)-\(number)-\($0)" }
                try await load.sqlite.apply(keys.map { .write(key: CacheKey($0), data: value(of: $0)) })
                load.acknowledge(keys.map { "sqlite \($0)" })
                // So that the file stays small.
                if number.isMultiple(of: 8) {
                    try await load.sqlite.apply(keys.map { .remove(key: CacheKey($0)) })
                    load.acknowledge(keys.map { "removed \($0)" })
                }
            })
        tasks.append(
            repeating { load, _ in
                _ = try await load.sqlite.fetchAll()
                load.noteOperations()
            })
        tasks.append(
            repeating { load, _ in
                _ = try await load.reading.fetchKeys()
                load.noteOperations()
            })
        tasks.append(
            repeating { load, number in
                _ = try await load.small.fetch(key: CacheKey("counter"))
                load.noteOperations()
                let found = try await load.small.fetch(key: CacheKey("counter"))
                let next = (found.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0) + 1
                let outcome = try await load.small.apply(
                    [.write(key: CacheKey("counter"), data: Data("\(next)".utf8))],
                    if: [StorageCondition(key: CacheKey("counter"), data: found)])
                precondition(outcome, "A batch was applied twice.")
                load.acknowledge(["counter \(next)"])
            })
        tasks.append(
            repeating { load, number in
                let index = StorageIndex("id")
                try await load.sqlite.createIndex(index)
                try await load.sqlite.removeIndex(index)
                if number.isMultiple(of: 4) { try await load.sqlite.vacuum() }
                try await load.sqlite.backup(
                    to: load.folder.appendingPathComponent("backup/copy.sqlite3"), replacing: true)
                load.noteOperations()
            })
        for writer in 0..<2 {
            tasks.append(
                repeating { load, number in
                    let key = "disk-\(process)-\(writer)-\(number)"
                    try await load.disk.write(value(of: key), key: CacheKey(key))
                    load.acknowledge(["disk \(key)"])
                    let keys = (0..<20).map { "disk-\(process)-\(writer)-batch-\($0)" }
                    try await load.disk.apply(keys.map { .write(key: CacheKey($0), data: Data("\(number)".utf8)) })
                    load.noteOperations()
                    if number > 20 {
                        let old = "disk-\(process)-\(writer)-\(number - 20)"
                        try await load.disk.remove(key: CacheKey(old))
                        load.acknowledge(["removed-disk \(old)"])
                    }
                })
        }
        tasks.append(
            repeating { load, _ in
                _ = try await load.disk.fetchAll()
                load.noteOperations()
            })
        tasks.append(
            repeatingOnThread { load, number in
                try load.letters.save(Letter(id: "letter-\(process)-\(number)"))
                load.acknowledge(["letter letter-\(process)-\(number)"])
            })
        tasks.append(
            repeating { load, number in
                let id = "account-\(process)-\(number)"
                try await load.store.insert(Account(id: id))
                load.acknowledge(["account \(id)"])
            })
        tasks.append(
            repeatingOnThread { load, number in
                let secrets = EncryptedFileSecretStorage(
                    directory: FileManager.Directory(url: load.folder.appendingPathComponent("secrets")))
                try secrets.write(Data("\(number)".utf8), to: SecretAddress(key: "secret", service: "tests"))
                load.noteOperations()
            })
        // Ends with the process.
        let feed = sqlite.changes()
        Task.detached { [self] in
            for try await update in feed {
                followed.withLock { followed in
                    switch update {
                    case .snapshot(let snapshot): followed = Set(snapshot.items.map(\.key.value))
                    case .changes(let delta):
                        for change in delta.changes {
                            if change.kind == .written {
                                followed.insert(change.key.value)
                            } else {
                                followed.remove(change.key.value)
                            }
                        }
                    }
                }
            }
        }
        return tasks
    }

    /// Waits until the followers have caught up, and prints the digests of what they know.
    func report() async throws {
        let stored = Set(try await sqlite.fetchKeys().map(\.value))
        while followed.withLock({ $0 }) != stored { await Task.yield() }
        say("followed \(stored.count)")
        say("accounts \(await store.items.count)")
        try await sqlite.close()
    }
}

/// Suspends and resumes storage while a thread saves letters, and prints a line for each suspension after which fewer
/// letters are stored than calls have returned. Then it prints whether any were saved.
///
/// Arguments: folder, number of suspensions.
func suspendLetters(_ arguments: [String]) async throws {
    let folder = URL(fileURLWithPath: arguments[0], isDirectory: true)
    let letters = CodableStore<Letter>(engine: .sqlite(in: FileManager.Directory(url: folder)))
    let isOver = Locked(false)
    let saved = Locked(0)
    let thread = Task {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
                continuation.resume(with: Result { try save(letters, counting: saved) { isOver.withLock { $0 } } })
            }
        }
    }
    for round in 0..<(Int(arguments[1]) ?? 0) {
        let target = saved.withLock { $0 } + round % 10
        while saved.withLock({ $0 }) < target { await Task.yield() }
        await StorageSuspension.suspend()
        let count = saved.withLock { $0 }
        if count > 0 {
            let queue = try DatabaseQueue(path: folder.appendingPathComponent("CodableStoreKit.sqlite3").path)
            let stored = try await queue.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM emporium_collection_1")
            }
            try queue.close()
            if (stored ?? 0) < count { say("lost \(count - (stored ?? 0)) in round \(round)") }
        }
        StorageSuspension.resume()
    }
    isOver.withLock { $0 = true }
    try await thread.value
    say("saved \(saved.withLock { $0 > 0 })")
}

private func save(
    _ letters: CodableStore<Letter>, counting saved: Locked<Int>, until isOver: () -> Bool
) throws {
    while !isOver() {
        do {
            try letters.save(Letter(id: "\(saved.withLock { $0 })"))
            saved.withLock { $0 += 1 }
        } catch let error as StorageError where error.code == .suspended {
            sched_yield()
        }
    }
}
