@testable import Bodega
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Tests of the locks of a folder.
@Suite struct DiskLockTests {

    @Test("A writer releases its lock even if a child process has inherited the file and not closed it yet")
    func inherited() throws {
        let folder = TemporaryFolder()
        let core = DiskFolder(url: folder.url, durability: .relaxed)
        // As forking does.
        let copy = try core.writing { _, control in dup(control) }
        try #require(copy >= 0)
        defer { close(copy) }
        #expect(try folder.names() == [".emporium"])
        core.removeControlFolderIfIdle()
        #expect(try folder.names() == [])
    }

    private static let never = LockTimeout(.zero)

    private func core(_ folder: TemporaryFolder) -> DiskFolder {
        DiskFolder(url: folder.url, durability: .relaxed, lockTimeout: Self.never)
    }

    private func write(_ keys: String..., to core: DiskFolder) throws {
        try core.apply(keys.map { .write(key: CacheKey($0), data: Data($0.utf8)) }, at: Date())
    }

    private func expectLocked(_ attempt: () throws -> Void) {
        let error = #expect(throws: StorageError.self) { try attempt() }
        #expect(error?.code == .locked)
    }

    @Test("No operation waits forever for a suspended writer, and items can be read in the meantime")
    func stoppedWriter() throws {
        let folder = TemporaryFolder()
        let core = core(folder)
        try write("a", "b", to: core)
        try DiskFolder(url: folder.url, durability: .relaxed).writing { _, _ throws in
            let error = #expect(throws: StorageError.self) { try write("c", to: core) }
            #expect(error?.code == .locked)
            #expect(error?.file?.lastPathComponent == ".emporium")
            #expect(try core.data(of: CacheKey("a")) == Data("a".utf8))
            #expect(try core.allKeys().count == 2)
        }
        try write("c", to: core)
        #expect(try core.count() == 3)
    }

    @Test("No operation waits forever for a suspended batch: neither reads of one item or all items, nor writes")
    func stoppedBatch() throws {
        let folder = TemporaryFolder()
        let core = core(folder)
        try write("a", "b", to: core)
        try DiskFolder(url: folder.url, durability: .relaxed).writing { open, control throws in
            // The state of a batch while it is carried out.
            try #require(mkdirat(control, "commit", 0o700) == 0)
            try #require(flock(open, LOCK_EX) == 0)
            let attempts: [() throws -> Void] = [
                { _ = try core.data(of: CacheKey("a")) }, { _ = try core.allItems() }, { _ = try core.examine() },
                { try write("c", to: core) }, { try write("c", "d", to: core) },
                {
                    _ = try DiskFolder(
                        url: folder.url, durability: .full, isReadOnly: true, lockTimeout: Self.never
                    ).count()
                },
            ]
            for attempt in attempts {
                expectLocked(attempt)
            }
            // The state before the batch has the readers' lock.
            flock(open, LOCK_UN)
            for attempt in attempts {
                expectLocked(attempt)
            }
            try #require(unlinkat(control, "commit", AT_REMOVEDIR) == 0)
        }
        #expect(try core.count() == 2)
    }

    @Test("A batch does not wait forever for a suspended reader, and changes nothing when it gives up")
    func stoppedReader() throws {
        let folder = TemporaryFolder()
        let core = core(folder)
        try write("a", "b", to: core)
        try DiskFolder(url: folder.url, durability: .relaxed).readingMany { _ throws in
            expectLocked { try write("b", "c", to: core) }
            #expect(try core.allKeys() == [CacheKey("a"), CacheKey("b")])
            // A single item needs no such lock.
            try write("d", to: core)
        }
        try write("b", "c", to: core)
        #expect(try core.allKeys() == ["a", "b", "d", "c"].map { CacheKey($0) })
    }

    @Test("A reader releases its lock even if a child process has inherited the folder and not closed it yet")
    func inheritedByReading() throws {
        let folder = TemporaryFolder()
        let core = core(folder)
        try write("a", "b", to: core)
        // As forking does.
        let copy = try core.readingMany { dup($0) }
        try #require(copy >= 0)
        defer { close(copy) }
        try write("a", "b", to: core)
    }

    @Test("Operations queued behind one that times out wait no longer than that one")
    func behindOthers() async throws {
        let folder = TemporaryFolder()
        let time = Locked(Duration.seconds(1000))
        let timeout = LockTimeout(
            .seconds(30), now: { time.withLock { $0 } }, wait: { _, rest in time.withLock { $0 += rest } })
        let core = DiskFolder(url: folder.url, durability: .relaxed, lockTimeout: timeout)
        try write("a", to: core)
        try DiskFolder(url: folder.url, durability: .relaxed).writing { _, _ throws in
            for _ in 0..<10 {
                #expect(throws: StorageError.self) {
                    try core.carryOut(requestedAt: .seconds(1000)) { try write("b", to: $0) }
                }
                #expect(timeout.now() == .seconds(1030))
            }
            // An operation that was requested later has the whole limit, regardless of earlier waits.
            time.withLock { $0 = .seconds(2000) }
            #expect(throws: StorageError.self) {
                try core.carryOut(requestedAt: .seconds(1900)) { try write("b", to: $0) }
            }
            #expect(timeout.now() == .seconds(2030))
        }
    }

    @Test("A batch waits its whole time limit for readers, regardless of earlier waits")
    func readersOfLateBatch() throws {
        let folder = TemporaryFolder()
        let time = Locked(Duration.seconds(2000))
        let timeout = LockTimeout(
            .seconds(30), now: { time.withLock { $0 } }, wait: { _, rest in time.withLock { $0 += rest } })
        let core = DiskFolder(url: folder.url, durability: .relaxed, lockTimeout: timeout)
        try write("a", "b", to: core)
        core.lastTimeout.withLock { $0 = .seconds(1500) }
        try DiskFolder(url: folder.url, durability: .relaxed).readingMany { _ throws in
            expectLocked { try core.carryOut(requestedAt: .seconds(1000)) { try write("b", "c", to: $0) } }
        }
        #expect(timeout.now() == .seconds(2030))
    }

    @Test("A writer that finishes another writer's batch waits for readers no longer than its own limit in total")
    func finishingBatch() throws {
        let folder = TemporaryFolder()
        let time = Locked(Duration.seconds(1000))
        let timeout = LockTimeout(
            .seconds(30), now: { time.withLock { $0 } }, wait: { _, rest in time.withLock { $0 += rest } })
        let core = DiskFolder(url: folder.url, durability: .relaxed, lockTimeout: timeout)
        try write("a", "b", to: core)
        try DiskFolder(url: folder.url, durability: .relaxed).readingMany { _ throws in
            // The state after a process has ended while waiting for readers.
            let batch = folder.file(".emporium/commit")
            try FileManager.default.createDirectory(at: batch, withIntermediateDirectories: true)
            try Data("E".utf8).write(to: batch.appendingPathComponent("list"))
            expectLocked { try write("c", "d", to: core) }
        }
        #expect(timeout.now() == .seconds(1030))
        try write("c", "d", to: core)
        #expect(try core.count() == 4)
    }
}
