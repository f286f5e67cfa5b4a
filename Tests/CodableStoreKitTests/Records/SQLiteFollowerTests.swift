import Bodega
import Foundation
import TestSupport
import Testing

@testable import CodableStoreKit

/// A follower of a collection that comes and goes, without the loop that calls it after a signal.
@Suite struct SQLiteFollowerTests {

    private let folder = TemporaryFolder()
    private let reported = Locked<[String]>([])

    private func engine() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }

    private func follower(of engine: SQLiteStorageEngine) -> SQLiteFollower {
        let collection = SQLiteCollection(named: "c", in: engine)
        return SQLiteFollower(open: { collection }, replace: { _, error in throw error }) { [reported] effects in
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
        // A large collection is read by the second attempt.
        for _ in 0..<2 { try follower.catchUp() }
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
        // Commits through the same file are reported without an attempt.
        try await engine.collection(named: "c").write(Data("3".utf8), key: CacheKey("a"))
        #expect(takeReported() == ["written a 3"])
        try await next.remove(key: CacheKey("a"))
        try follower.catchUp()
        #expect(takeReported() == ["removed a 3"])
    }

    @Test("What was reported before all records of a large collection were read is reported as removed, too")
    func removedBeforeRead() async throws {
        let (engine, other) = (try engine(), try engine())
        try await other.collection(named: "c").write((0..<2_000).map { (CacheKey("\($0)"), Data()) })
        let follower = follower(of: engine)
        try follower.catchUp()
        try await engine.collection(named: "c").write(Data("1".utf8), key: CacheKey("a"))
        #expect(takeReported() == ["written a 1"])
        try await other.removeCollection(named: "c")
        try follower.catchUp()
        #expect(takeReported() == ["removed a 1"])
    }

    @Test("What this process has reported before it could follow a collection is compared with what is stored")
    func reportedBeforePlace() async throws {
        let (engine, other) = (try engine(), try engine())
        let follower = follower(of: engine)
        let key = CacheKey("a")
        // The writer reports these. Another engine changes the records before the follower has a place.
        follower.note([.write(key: key, data: Data("1".utf8)), .write(key: CacheKey("b"), data: Data("1".utf8))])
        try await other.collection(named: "c").write(Data("2".utf8), key: key)
        for _ in 0..<2 { try follower.catchUp() }
        #expect(takeReported() == ["removed b 1", "written a 2"])
        try await engine.collection(named: "c").write(Data("3".utf8), key: key)
        #expect(takeReported() == ["written a 3"])
    }
}
