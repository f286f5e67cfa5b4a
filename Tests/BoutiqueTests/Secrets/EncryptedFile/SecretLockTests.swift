import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega
@testable import Boutique

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Locks of secrets that are held for too long, or taken again by their holder.
@Suite struct SecretLockTests {
    private let fixture = SecretFolderFixture()

    /// A storage with a lock timeout of zero.
    private func impatient(_ url: URL? = nil) -> EncryptedFileSecretStorage {
        EncryptedFileSecretStorage(
            directory: FileManager.Directory(url: url ?? fixture.url), lockTimeout: LockTimeout(.zero))
    }

    @Test func `A stopped writer makes the changes of other processes fail, but not their reads`() async throws {
        let storage = impatient()
        let token = SecurelyStoredValue<String>(key: "token", service: "tests", storage: storage)
        try token.set("old")
        let child = try Child("hold-secrets", fixture.url.path)
        #expect(await child.nextLine() == "held")
        child.send(SIGSTOP)
        let attempts: [() throws -> Void] = [
            { try token.set("new") }, { try token.modify { $0 = "new" } }, { try token.remove() },
            { try storage.write(Data(), to: .test()) }, { try storage.remove(.test("token")) },
            { try storage.exclusively {} },
        ]
        for attempt in attempts {
            let error = #expect(throws: KeychainError.self) { try attempt() }
            #expect(error?.code == .locked)
            #expect(error?.file == fixture.url.appendingPathComponent("lock"))
        }
        #expect(token.lastError?.code == .locked)
        #expect(try token.fetch() == "old")
        child.kill()
        _ = await child.lines()
        try token.set("new")
        #expect(try token.fetch() == "new" && token.lastError == nil)
    }

    @Test func `A change waits for another process until the timeout`() async throws {
        let waits = Locked(0)
        let child = try Child("hold-secrets", fixture.url.path)
        #expect(await child.nextLine() == "held")
        let timeout = LockTimeout(.seconds(30), threads: .max) {
            .zero
        } wait: { answer, rest in
            #expect(rest == .seconds(30))
            waits.withLock { $0 += 1 }
            child.kill()
            // The system releases the lock when the process has ended.
            #expect(answer.wait(timeout: .now() + 60) == .success)
        }
        let directory = FileManager.Directory(url: fixture.url)
        let storage = EncryptedFileSecretStorage(directory: directory, lockTimeout: timeout)
        try storage.write(Data("here".utf8), to: .test())
        #expect(waits.withLock { $0 } == 1)
        #expect(try storage.read(.test()) == Data("here".utf8))
        _ = await child.lines()
    }

    @Test func `exclusively(_:) rethrows the error of its closure`() {
        let thrown = StorageError(.invalidArgument, "Thrown by the test.")
        let error = #expect(throws: StorageError.self) { try impatient().exclusively { throw thrown } }
        #expect(error?.code == .invalidArgument)
    }

    @Test func `One folder under two paths is one storage, also for nested changes`() throws {
        let storage = impatient()
        try storage.write(Data("a".utf8), to: .test("a"))
        let link = fixture.parent.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: fixture.url)
        let linked = impatient(link)
        #expect(storage.scope == linked.scope)
        try storage.exclusively {
            try linked.write(Data("b".utf8), to: .test("b"))
            try linked.exclusively { try storage.remove(.test("a")) }
        }
        let first = SecurelyStoredValue<Int>(key: "n", service: "tests", storage: storage)
        let second = SecurelyStoredValue<Int>(key: "n", service: "tests", storage: linked)
        try first.modify { value in
            value = 1
            do { try second.set(2) } catch { Issue.record(error) }
        }
        #expect(second.wrappedValue == 1)
        #expect(try linked.read(.test("b")) == Data("b".utf8))
    }

    @Test func `A folder in a linked parent is the same storage, too`() throws {
        let link = fixture.parent.file("other")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: fixture.parent.url)
        let linked = impatient(link.appendingPathComponent("Secrets"))
        // The scope is the same before and after the folder is created.
        try impatient().write(Data("a".utf8), to: .test())
        try impatient().exclusively { try linked.write(Data("b".utf8), to: .test()) }
        #expect(linked.scope == impatient().scope)
        #expect(linked.scope == impatient(link.appendingPathComponent("Secrets")).scope)
    }

    // MARK: Threads

    /// Runs closures on new threads and waits up to 20 seconds for them.
    private func run(_ bodies: (@Sendable () -> Void)...) async throws -> Bool {
        let ended = Locked(0)
        for body in bodies {
            Thread.detachNewThread {
                body()
                ended.withLock { $0 += 1 }
            }
        }
        return try await eventually { ended.withLock { $0 } == bodies.count }
    }

    @Test func `Changes of two services can be nested in any order by several threads`() async throws {
        let storage = MemorySecretStorage()
        let first = SecurelyStoredValue<Int>(key: "n", service: "first", storage: storage)
        let second = SecurelyStoredValue<Int>(key: "n", service: "second", storage: storage)
        let rounds = 3_000
        @Sendable func nest(_ outer: SecurelyStoredValue<Int>, _ inner: SecurelyStoredValue<Int>) {
            for _ in 0..<rounds {
                do {
                    try outer.modify { value in
                        value = (value ?? 0) + 1
                        do { try inner.modify { $0 = ($0 ?? 0) + 1 } } catch { Issue.record(error) }
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        try #require(try await run({ nest(first, second) }, { nest(second, first) }))
        #expect(try first.fetch() == 2 * rounds)
        #expect(try second.fetch() == 2 * rounds)
    }

    @Test func `Deadlocked threads in two storages get an error`() async throws {
        // Each thread takes the turn of one storage, waits until the other thread has done so, and takes the other
        // turn.
        func values(_ storage: MemorySecretStorage) -> SecretValues {
            SecretValues(storage, .test(), lockTimeout: LockTimeout(.zero))
        }
        let (left, right) = (values(MemorySecretStorage()), values(MemorySecretStorage()))
        let arrived = (left: DispatchSemaphore(value: 0), right: DispatchSemaphore(value: 0))
        let codes = Locked<[StorageError.Code?]>([])
        @Sendable func nest(
            _ outer: SecretValues, _ inner: SecretValues, _ here: DispatchSemaphore, _ there: DispatchSemaphore
        ) {
            do {
                try outer.exclusively {
                    here.signal()
                    there.wait()
                    try inner.exclusively {}
                }
            } catch {
                codes.withLock { $0.append((error as? StorageError)?.code) }
            }
        }
        let isOver = try await run(
            { nest(left, right, arrived.left, arrived.right) }, { nest(right, left, arrived.right, arrived.left) })
        try #require(isOver)
        // One of them may get its second turn after the other has given up.
        #expect(codes.withLock { !$0.isEmpty && $0.allSatisfy { $0 == .locked } })
    }
}
