import Bodega
import BodegaTesting
import Boutique
import CodableStoreKit
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

/// Checks each rule of suspensions, and prints its name and what was found.
///
/// Arguments: folder.
func checkSuspensionRules(_ arguments: [String]) async throws {
    let rules = SuspensionRules(folder: URL(fileURLWithPath: arguments[0], isDirectory: true))
    try await rules.repeatedSuspensions()
    try await rules.blockingCalls()
    try await rules.waitingCalls()
    try await rules.readsOfOneMoment()
    try await rules.closedEngine()
    try await rules.replacedFile()
    try await rules.foreignChanges()
    try await rules.uses()
    try await rules.withdrawnSuspension()
    try await rules.longBatch()
    try await rules.lockedFile()
    try await rules.lockedFolder()
    try await rules.releasedEngine()
}

/// The code of the error that a closure throws, or `nothing`.
private func code(of body: () async throws -> Void) async -> String {
    do {
        try await body()
        return "nothing"
    } catch let error as StorageError {
        return "\(error.code)"
    } catch {
        return "\(type(of: error))"
    }
}

private struct SuspensionRules {
    let folder: URL

    private func directory(_ name: String) -> FileManager.Directory {
        FileManager.Directory(url: folder.appendingPathComponent(name))
    }

    private func engine(_ name: String) throws -> SQLiteStorageEngine {
        try SQLiteStorageEngine(opening: directory(name))
    }

    /// Whether no other process would see a lock of this one: the system's list names them.
    private var holdsNoLock: Bool {
        guard let list = FileManager.default.contents(atPath: "/proc/locks") else { return true }
        return !String(decoding: list, as: UTF8.self).contains(" \(getpid()) ")
    }

    /// One resumption ends several suspensions.
    func repeatedSuspensions() async throws {
        let engine = try engine("repeated")
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        await StorageSuspension.suspend()
        await Task.detached { StorageSuspension.suspendBlocking() }.value
        let isFree = holdsNoLock
        StorageSuspension.resume()
        StorageSuspension.resume()
        say("repeated \(isFree) \(try await engine.fetch(key: CacheKey("a")) != nil)")
    }

    func blockingCalls() async throws {
        let letters = CodableStore<Letter>(engine: .sqlite(in: directory("letters")))
        let files = CodableStore<Letter>(engine: .fileSystem(in: directory("files")))
        try letters.save(Letter(id: "a"))
        try files.save(Letter(id: "a"))
        let number = StoredValue(key: "suspended", default: 0)
        await StorageSuspension.suspend()
        let codes = await [
            code { _ = try engine("new") }, code { try letters.save(Letter(id: "b")) },
            code { _ = try letters.get(identifier: "a") }, code { try files.save(Letter(id: "b")) },
        ]
        number.set(1)
        let secrets = EncryptedFileSecretStorage(directory: directory("secrets"))
        var secretCode = "nothing"
        do {
            try secrets.write(Data("a".utf8), to: SecretAddress(key: "secret", service: "tests"))
        } catch let error as KeychainError {
            secretCode = "\(error.code)"
        }
        StorageSuspension.resume()
        say("blocking \(codes.joined(separator: " ")) \(number.lastError.map { "\($0.code)" } ?? "none") \(secretCode)")
        try letters.save(Letter(id: "b"))
        say("blocking later \(try letters.getCollection().count)")
    }

    func waitingCalls() async throws {
        let (engine, disk) = (try engine("waiting"), try DiskStorageEngine(opening: directory("waiting-disk")))
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        await StorageSuspension.suspend()
        let cancelled = Task { await code { try await engine.write(Data("b".utf8), key: CacheKey("cancelled")) } }
        let onDisk = Task { await code { _ = try await disk.fetch(key: CacheKey("cancelled")) } }
        cancelled.cancel()
        onDisk.cancel()
        let codes = await [cancelled.value, onDisk.value]
        let isResumed = Locked(false)
        let waiting = Task {
            _ = try await engine.fetch(key: CacheKey("a"))
            return isResumed.withLock { $0 }
        }
        let writing = Task {
            try await disk.write(Data("c".utf8), key: CacheKey("c"))
            return isResumed.withLock { $0 }
        }
        let isFree = holdsNoLock
        isResumed.withLock { $0 = true }
        StorageSuspension.resume()
        let (hasWaited, hasWritten) = (try await waiting.value, try await writing.value)
        let keys = try await engine.fetchKeys().map(\.value)
        say("waiting \(codes.joined(separator: " ")) \(isFree) \(hasWaited) \(hasWritten) \(keys)")
    }

    /// A read of several collections waits, also one that a suspension comes across.
    func readsOfOneMoment() async throws {
        let engine = try engine("moment")
        guard let database = engine.database else { return }
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        await StorageSuspension.suspend()
        let isResumed = Locked(false)
        let waiting = Task {
            try await database.atOneMoment { _ = try await engine.fetch(key: CacheKey("a")) }
            return isResumed.withLock { $0 }
        }
        await Task.yield()
        isResumed.withLock { $0 = true }
        StorageSuspension.resume()
        let hasWaited = try await waiting.value
        let (reads, suspending) = (Locked(0), Locked(Task<Void, Never>?.none))
        try await database.atOneMoment {
            if reads.withLock({
                $0 += 1; return $0
            }) == 1 {
                suspending.withLock { $0 = Task { await StorageSuspension.suspend() } }
                while !LockHolders.shared.areSuspended { await Task.yield() }
                Task.detached {
                    await suspending.withLock { $0 }?.value
                    StorageSuspension.resume()
                }
            }
            _ = try await engine.fetch(key: CacheKey("a"))
        }
        say("moment \(hasWaited) \(reads.withLock { $0 })")
    }

    func closedEngine() async throws {
        let engine = try engine("closed")
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        await StorageSuspension.suspend()
        let waiting = Task { await code { _ = try await engine.fetch(key: CacheKey("a")) } }
        try await engine.close()
        let isFree = holdsNoLock
        let later = await code { _ = try await engine.fetch(key: CacheKey("a")) }
        StorageSuspension.resume()
        say("closed \(isFree) \(later) \(await waiting.value)")
    }

    func replacedFile() async throws {
        let engine = try engine("replaced")
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        await StorageSuspension.suspend()
        for suffix in ["", "-wal", "-shm"] {
            rename(engine.file.path + suffix, engine.file.path + ".old" + suffix)
        }
        StorageSuspension.resume()
        let removed = await code { _ = try await engine.fetch(key: CacheKey("a")) }
        let exists = FileManager.default.fileExists(atPath: engine.file.path)
        for suffix in ["", "-wal", "-shm"] {
            rename(engine.file.path + ".old" + suffix, engine.file.path + suffix)
        }
        say("replaced \(removed) \(exists) \(try await engine.fetch(key: CacheKey("a")) != nil)")
    }

    /// A store without a log and a feed with one see what another program writes in the meantime.
    @MainActor func foreignChanges() async throws {
        for name in ["foreign-small", "foreign-log"] {
            let engine = try engine(name)
            let store = try await Store<Account>(storage: engine)
            try await store.insert(Account(id: "own"))
            if name == "foreign-log" { _ = try await engine.fetchCursor() }
            let other = try await Store<Account>(storage: try SQLiteStorageEngine(opening: directory(name)))
            await StorageSuspension.suspend()
            let queue = try DatabaseQueue(path: engine.file.path)
            try await queue.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO data (key, value, createdAt, updatedAt)
                        SELECT 'foreign', replace(CAST(value AS TEXT), 'own', 'foreign'), createdAt, updatedAt FROM data
                        """)
            }
            try queue.close()
            let isUnseen = store.items.count == 1
            StorageSuspension.resume()
            for store in [store, other] {
                while store.items.count != 2 { await Task.yield() }
            }
            say("\(name) \(isUnseen) \(store.items.count) \(other.items.count)")
        }
    }

    func uses() async throws {
        let engine = try engine("uses")
        await StorageSuspension.suspend()
        let inner = await StorageSuspension.whileResumed {
            await StorageSuspension.whileResumed {
                _ = await code { try await engine.write(Data(), key: CacheKey("a")) }
            }
            return StorageSuspension.isSuspended
        }
        let after = (StorageSuspension.isSuspended, holdsNoLock)
        // The app returns to the foreground during the work.
        await StorageSuspension.whileResumed { StorageSuspension.resume() }
        let foreground = StorageSuspension.isSuspended
        // The time for the work is over.
        let forced = await StorageSuspension.whileResumed { () -> Bool in
            await StorageSuspension.suspend()
            return StorageSuspension.isSuspended && holdsNoLock
        }
        let end = StorageSuspension.isSuspended
        StorageSuspension.resume()
        say("uses \(inner) \(after) \(foreground) \(forced) \(end)")
    }

    func withdrawnSuspension() async throws {
        let engine = try engine("withdrawn")
        for number in 0..<50 {
            async let write: Void = engine.write(Data("\(number)".utf8), key: CacheKey("\(number)"))
            async let suspended: Void = StorageSuspension.suspend()
            async let suspendedAgain: Void = StorageSuspension.suspend()
            StorageSuspension.resume()
            _ = await (suspended, suspendedAgain)
            StorageSuspension.resume()
            try await write
        }
        say("withdrawn \(try await engine.fetchCount()) \(StorageSuspension.isSuspended)")
    }

    /// A long batch is interrupted, and applied once afterwards.
    func longBatch() async throws {
        let engine = try engine("long")
        let start = try await engine.fetchCursor()
        let keys = (0..<20_000).map { CacheKey("\($0)") }
        let hasBegun = Locked(false)
        let batch = Task {
            hasBegun.withLock { $0 = true }
            try await engine.apply(keys.map { .write(key: $0, data: Data($0.value.utf8)) })
        }
        while !hasBegun.withLock({ $0 }) { await Task.yield() }
        var number = 0
        for _ in 0..<5 {
            await StorageSuspension.suspend()
            let queue = try DatabaseQueue(path: engine.file.path)
            number = try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM data") ?? -1 }
            try queue.close()
            if number != 0, number != keys.count { say("long \(number)") }
            StorageSuspension.resume()
        }
        try await batch.value
        var count = 0
        var cursor = start
        while let delta = try await engine.fetchChanges(since: cursor, excluding: nil), !delta.changes.isEmpty {
            count += delta.changes.count
            cursor = delta.cursor
        }
        say("long \(try await engine.fetchCount()) \(count)")
    }

    /// Waiting for another program does not delay a suspension.
    func lockedFile() async throws {
        let engine = try engine("locked")
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        let queue = try DatabaseQueue(path: engine.file.path)
        let (isLocked, unlock) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holder = Thread {
            queue.inDatabase { db in
                do { try db.execute(sql: "BEGIN IMMEDIATE") } catch { fatalError("\(error)") }
                isLocked.signal()
                unlock.wait()
                do { try db.execute(sql: "ROLLBACK") } catch { fatalError("\(error)") }
            }
        }
        holder.start()
        await Task.detached { Self.wait(isLocked) }.value
        let write = Task { try await engine.write(Data("b".utf8), key: CacheKey("b")) }
        await StorageSuspension.suspend()
        unlock.signal()
        queue.inDatabase { _ in }
        try queue.close()
        let isFree = holdsNoLock
        StorageSuspension.resume()
        try await write.value
        say("locked \(isFree) \(try await engine.fetchCount())")
    }

    private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

    func lockedFolder() async throws {
        let engine = try DiskStorageEngine(opening: directory("locked-folder"))
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        let control = directory("locked-folder").url.appendingPathComponent(".emporium").path
        mkdir(control, 0o700)
        let descriptor = open(control, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        precondition(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let write = Task { try await engine.write(Data("b".utf8), key: CacheKey("b")) }
        await StorageSuspension.suspend()
        close(descriptor)
        let isFree = holdsNoLock
        StorageSuspension.resume()
        try await write.value
        say("locked-folder \(isFree) \(try await engine.fetchCount())")
    }

    /// An engine that is released while it works closes its file, for which a suspension waits.
    func releasedEngine() async throws {
        var isFree = true
        for number in 0..<30 {
            var engine: SQLiteStorageEngine? = try engine("released")
            let write = Task { [engine] in
                try await engine?.write(Data(repeating: 1, count: 100_000), key: CacheKey("\(number)"))
            }
            engine = nil
            await StorageSuspension.suspend()
            isFree = isFree && holdsNoLock
            StorageSuspension.resume()
            try await write.value
        }
        say("released \(isFree)")
    }
}
