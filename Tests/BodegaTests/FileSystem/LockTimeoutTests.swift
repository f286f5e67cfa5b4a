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

/// Tests of waiting for locks, with a clock that only pauses advance.
@Suite struct LockTimeoutTests {
    private let folder = TemporaryFolder()
    private let time = Locked((now: Duration.seconds(1000), pauses: 0))

    private func timeout(
        _ limit: Duration, threads: Int = .max,
        onPause: @escaping @Sendable (ThreadSemaphore) -> Void = { _ in }
    ) -> LockTimeout {
        LockTimeout(
            limit,
            threads: threads,
            now: { [time] in time.withLock { $0.now } },
            wait: { [time] answer, pause in
                time.withLock { $0 = ($0.now + pause, $0.pauses + 1) }
                onPause(answer)
            }
        )
    }

    /// Opens the folder like another process.
    private func opened() throws -> Int32 {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(descriptor >= 0)
        return descriptor
    }

    @Test(
        "A lock that another process keeps ends in an error, exactly at the limit and after few attempts",
        arguments: [0, .max])
    func stuck(threads: Int) throws {
        let (other, own) = (try opened(), try opened())
        defer {
            close(other)
            close(own)
        }
        try #require(flock(other, LOCK_EX) == 0)
        let deadline = timeout(.seconds(30), threads: threads).deadline()
        let error = #expect(throws: StorageError.self) { try deadline.lock(own, LOCK_SH, folder.path) }
        #expect(error?.code == .locked)
        #expect(error?.file?.path == folder.path)
        #expect(time.withLock { $0.now } == .seconds(1030))
        #expect(time.withLock { $0.pauses } < 2000)
        // The limit applies to the whole operation, not only to that lock.
        #expect(throws: StorageError.self) { try deadline.lock(own, LOCK_EX, folder.path) }
        #expect(time.withLock { $0.now } == .seconds(1030))
    }

    @Test("A released lock is taken, and a free lock is taken even after the deadline")
    func released() throws {
        let (other, own) = (try opened(), try opened())
        defer {
            close(other)
            close(own)
        }
        try #require(flock(other, LOCK_EX) == 0)
        let deadline = timeout(.seconds(30), threads: 0) { [time] _ in
            if time.withLock({ $0.pauses }) == 3 { flock(other, LOCK_UN) }
        }.deadline()
        try deadline.lock(own, LOCK_EX, folder.path)
        #expect(time.withLock { $0.pauses } == 3)
        #expect(flock(other, LOCK_SH | LOCK_NB) != 0)
        flock(own, LOCK_UN)
        try timeout(.zero).deadline(from: .zero).lock(own, LOCK_SH, folder.path)
    }

    @Test("The system grants a released lock even just before the caller would abandon the request")
    func granted() throws {
        let (other, own) = (try opened(), try opened())
        defer {
            close(other)
            close(own)
        }
        try #require(flock(other, LOCK_EX) == 0)
        let deadline = timeout(.seconds(30)) { answer in
            flock(other, LOCK_UN)
            answer.wait()
        }.deadline()
        try deadline.lock(own, LOCK_EX, folder.path)
        #expect(time.withLock { $0.pauses } == 1)
        #expect(deadline.remaining == .zero)
        #expect(flock(other, LOCK_SH | LOCK_NB) != 0)
        flock(own, LOCK_UN)
        #expect(flock(other, LOCK_SH | LOCK_NB) == 0)
    }

    @Test("A lock that is granted after its caller has abandoned the request is released")
    func grantedLate() throws {
        let (other, own) = (try opened(), try opened())
        defer { close(other) }
        try #require(flock(other, LOCK_EX) == 0)
        let answer = Locked<ThreadSemaphore?>(nil)
        let deadline = timeout(.seconds(30)) { semaphore in answer.withLock { $0 = semaphore } }.deadline()
        #expect(throws: StorageError.self) { try deadline.lock(own, LOCK_EX, folder.path) }
        // Like the copy of a forked child process that has not closed it yet.
        let copy = dup(own)
        defer { close(copy) }
        FileSystem.closeLocked(own)
        flock(other, LOCK_UN)
        let ended = try #require(answer.withLock { $0 })
        #expect(ended.wait(timeout: .now() + 60) == .success)
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    }

    @Test("A limit may be of any size", arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero])
    func anySize(limit: Duration) throws {
        let own = try opened()
        defer { close(own) }
        let deadline = timeout(limit).deadline()
        try deadline.lock(own, LOCK_EX, folder.path)
        #expect(try TurnLock().withLock(deadline, folder.path) { true })
    }

    @Test("A thread can take a turn recursively; other threads get an error after their deadline")
    func turns() async throws {
        let turn = TurnLock()
        let (folder, never) = (folder, timeout(.zero))
        try turn.withLock(never.deadline(), folder.path) { () throws in
            #expect(try turn.withLock(never.deadline(), folder.path) { true })
            let other = Locked<(any Error)?>(nil)
            let ended = ThreadSemaphore(value: 0)
            Thread.detachNewThread {
                do {
                    try turn.withLock(never.deadline(), folder.path) {}
                } catch {
                    other.withLock { $0 = error }
                }
                ended.signal()
            }
            ended.wait()
            #expect((other.withLock { $0 } as? StorageError)?.code == .locked)
        }
        #expect(try turn.withLock(never.deadline(), folder.path) { true })
    }
}
