import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Bodega
@testable import CodableStoreKit

/// A follower of a collection that comes and goes, without the loop that calls it after a signal.
@Suite struct SQLiteFollowerTests {

    private let folder = TemporaryFolder()
    private let reported = Locked<[String]>([])

    private func engine() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }

    private func follower(of engine: SQLiteStorageEngine) -> SQLiteFollower {
        follower(of: SQLiteCollection(named: "c", in: engine))
    }

    private func follower(of collection: SQLiteCollection) -> SQLiteFollower {
        SQLiteFollower(open: { collection }, replace: { _, error in throw error }) { [reported] effects in
            for effect in effects {
                let text =
                    switch effect {
                    case .written(let key, let data): "written \(key.rawValue) \(String(decoding: data, as: UTF8.self))"
                    case .removed(let key, let data): "removed \(key.rawValue) \(String(decoding: data, as: UTF8.self))"
                    }
                reported.withLock { $0.append(text) }
            }
        }
    }

    /// Changes a followed collection, which reports its own changes, too.
    private func update(
        _ collection: SQLiteCollection, _ follower: SQLiteFollower, _ operations: [StorageOperation]
    ) throws {
        try collection.update(at: Date(), since: { follower.place(in: collection) }) { _ in
            operations
        } committed: { [reported] change in
            follower.note(change, of: collection)
            reported.withLock { $0.append("own") }
        }
    }

    private func takeReported() -> [String] {
        reported.withLock { reported in
            defer { reported = [] }
            return reported
        }
    }

    @Test("Following creates no collection, neither before there is one, nor after it was removed")
    func creatingNothing() async throws {
        let (engine, other) = (try engine(), try engine())
        let follower = follower(of: engine)
        for _ in 0..<3 {
            for _ in 0..<2 { try follower.catchUp() }
            #expect(try await other.collectionNames().isEmpty)
            try await other.collection(named: "c").write(Data("1".utf8), key: CacheKey("a"))
            for _ in 0..<2 { try follower.catchUp() }
            #expect(takeReported() == ["written a 1"])
            try await other.removeCollection(named: "c")
            try follower.catchUp()
            #expect(takeReported() == ["removed a 1"])
            #expect(try await other.collectionNames().isEmpty)
        }
        follower.end()
        try follower.catchUp()
        #expect(try await other.collectionNames().isEmpty)
    }

    @Test("A follower that has ended neither creates a collection nor observes the next one")
    func ended() async throws {
        let (engine, other) = (try engine(), try engine())
        let follower = follower(of: engine)
        try follower.catchUp()
        follower.end()
        try follower.catchUp()
        try await other.collection(named: "c").write(Data("1".utf8), key: CacheKey("a"))
        try follower.catchUp()
        try await engine.collection(named: "c").write(Data("2".utf8), key: CacheKey("a"))
        #expect(takeReported().isEmpty)
    }

    @Test("The difference between a removed collection and the next one is reported", arguments: [0, 5, 2_000])
    func anotherTable(count: Int) async throws {
        let (engine, other) = (try engine(), try engine())
        let filled = try other.collection(named: "c")
        try await filled.write((0..<count).map { (CacheKey("\($0)"), Data("1".utf8)) })
        let follower = follower(of: engine)
        try follower.catchUp()
        try await filled.write(Data("1".utf8), key: CacheKey("a"))
        try follower.catchUp()
        #expect(takeReported() == ["written a 1"])
        try await filled.write(Data("1".utf8), key: CacheKey("b"))
        try await other.removeCollection(named: "c")
        let next = try other.collection(named: "c")
        try await next.write([(CacheKey("1"), Data("2".utf8)), (CacheKey("a"), Data("1".utf8))])
        try follower.catchUp()
        var expected = (0..<count).filter { $0 != 1 }.map { "removed \($0) 1" }
        expected.append("written 1 2")
        #expect(takeReported().sorted() == expected.sorted())
        try await engine.collection(named: "c").write(Data("3".utf8), key: CacheKey("a"))
        try follower.catchUp()
        #expect(takeReported() == ["written a 3"])
        try await next.remove(key: CacheKey("a"))
        try follower.catchUp()
        #expect(takeReported() == ["removed a 3"])
    }

    @Test("The records of a large collection that is removed are reported, with one that was reported before")
    func removedAfterReport() async throws {
        let (engine, other) = (try engine(), try engine())
        try await other.collection(named: "c").write((0..<2_000).map { (CacheKey("\($0)"), Data()) })
        let follower = follower(of: engine)
        try follower.catchUp()
        try await engine.collection(named: "c").write(Data("1".utf8), key: CacheKey("a"))
        try follower.catchUp()
        #expect(takeReported() == ["written a 1"])
        try await other.removeCollection(named: "c")
        try follower.catchUp()
        #expect(Set(takeReported()) == Set((0..<2_000).map { "removed \($0) " } + ["removed a 1"]))
    }

    @Test("An own change comes after the changes of others that it finds, also to a removed collection")
    func ownChanges() async throws {
        let (engine, other) = (try engine(), try engine())
        let (collection, key) = (SQLiteCollection(named: "c", in: engine), CacheKey("a"))
        let follower = follower(of: collection)
        try follower.catchUp()
        for round in 0..<3 {
            try await other.collection(named: "c").write([(key, Data("1".utf8)), (CacheKey("b"), Data("1".utf8))])
            try update(collection, follower, [.write(key: key, data: Data("2".utf8))])
            #expect(takeReported() == ["written a 1", "written b 1", "own"])
            try await engine.collection(named: "c").remove(key: key)
            try update(collection, follower, [.remove(key: CacheKey("b"))])
            #expect(takeReported() == ["removed a 2", "own"])
            try follower.catchUp()
            #expect(takeReported().isEmpty)
            if round == 1 {
                try collection.remove(since: { follower.place(in: collection) }) { follower.note($0, of: collection) }
            } else {
                try await other.removeCollection(named: "c")
            }
            try update(collection, follower, [.write(key: CacheKey("c"), data: Data("3".utf8))])
            #expect(takeReported() == ["own"])
            try await other.collection(named: "c").remove(key: CacheKey("c"))
            try follower.catchUp()
            #expect(takeReported() == ["removed c 3"])
        }
    }

    @Test("A follower that begins while a change waits to be committed knows the changed record")
    func beginningDuringChange() async throws {
        let engine = try engine()
        let (one, other) = (SQLiteCollection(named: "c", in: engine), SQLiteCollection(named: "c", in: engine))
        let (follower, key) = (follower(of: other), CacheKey("a"))
        let begun = DispatchGroup()
        try one.update(at: Date()) { _ in
            let isRunning = DispatchSemaphore(value: 0)
            begun.enter()
            Thread {
                isRunning.signal()
                do { try follower.catchUp() } catch { Issue.record(error) }
                begun.leave()
            }.start()
            isRunning.wait()
            return [.write(key: key, data: Data("1".utf8))]
        } committed: { _ in
        }
        begun.wait()
        _ = takeReported()
        try one.update(at: Date(), { _ in [.remove(key: key)] }, committed: { _ in })
        try follower.catchUp()
        #expect(takeReported() == ["removed a 1"])
    }

    @Test("What this process has reported before it could follow a collection is compared with what is stored")
    func reportedBeforePlace() async throws {
        let other = try engine()
        let engine = try SQLiteStorageEngine(opening: folder.directory, lockTimeout: 0)
        let (collection, key) = (SQLiteCollection(named: "c", in: engine), CacheKey("a"))
        try await other.collection(named: "c").write(Data("0".utf8), key: CacheKey("b"))
        let follower = follower(of: collection)
        // Another engine prevents the follower from creating the log.
        let (isHeld, mayEnd, hasEnded) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        Thread {
            do {
                try other.core.blockingWriteUnreported { _ in
                    isHeld.signal()
                    mayEnd.wait()
                }
            } catch { Issue.record(error) }
            hasEnded.signal()
        }.start()
        isHeld.wait()
        #expect(throws: StorageError.self) { try follower.catchUp() }
        mayEnd.signal()
        hasEnded.wait()
        // The writer reports these. Another engine changes the records before the follower has a place.
        try update(
            collection, follower,
            [.write(key: key, data: Data("1".utf8)), .write(key: CacheKey("b"), data: Data("1".utf8))])
        #expect(takeReported() == ["own"])
        try await other.collection(named: "c").write(Data("2".utf8), key: key)
        try await other.collection(named: "c").remove(key: CacheKey("b"))
        for _ in 0..<2 { try follower.catchUp() }
        #expect(takeReported() == ["removed b 1", "written a 2"])
        try await engine.collection(named: "c").write(Data("3".utf8), key: key)
        try follower.catchUp()
        #expect(takeReported() == ["written a 3"])
    }
}
