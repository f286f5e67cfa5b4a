import BodegaTesting
import Dispatch
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// Synchronous collections of one SQLite file, one of which is followed.
@Suite struct SQLiteFollowingTests {

    private let folder = TemporaryFolder()

    /// What a follower of a collection knows: where it is, and what it has read.
    private final class Follower: Sendable {
        let collection: SQLiteCollection
        private let place = Locked<SQLiteFollowedState?>(nil)
        private let read = Locked<[String]>([])

        init(of collection: SQLiteCollection) { self.collection = collection }

        private func adopt(_ update: SQLiteCollectionUpdate) {
            let keys = update.changes(after: place.withLock { $0 }).map { $0.map(\.key.rawValue) } ?? ["everything"]
            read.withLock { $0 += keys }
            place.withLock { $0 = update.place }
        }

        /// The keys of the changes that were read since the last call, before own ones, and now.
        func takeChanges() throws -> [String] {
            try collection.readUpdate(since: { place.withLock { $0 } ?? .nowhere }, adopt)
            return read.withLock { read in
                defer { read = [] }
                return read
            }
        }

        /// Writes through the followed collection.
        func write(_ keys: String...) throws {
            let operations = keys.map { StorageOperation.write(key: CacheKey($0), data: Data()) }
            try collection.update(at: Date(), since: { [place] in place.withLock { $0 } }) { _ in
                operations
            } committed: { [self] change in
                if let earlier = change.earlier { adopt(earlier) }
                read.withLock { $0.append("own") }
                place.withLock { $0 = change.place }
            }
        }
    }

    private func write(_ keys: String..., to collection: SQLiteCollection) throws {
        let operations = keys.map { StorageOperation.write(key: CacheKey($0), data: Data()) }
        try collection.update(at: Date(), { _ in operations }, committed: { _ in })
    }

    @Test("A collection knows which changes in the log are not its own, independently of their origins")
    func knownChanges() throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let foreign = SQLiteCollection(of: try SQLiteStorageEngine(opening: folder.directory))
        let one = SQLiteCollection(of: engine)
        let follower = Follower(of: SQLiteCollection(of: engine))
        #expect(try follower.takeChanges() == ["everything"])
        // The same origin everywhere, as in a program that has opened the file twice.
        try StorageOrigin.$current.withValue(StorageOrigin()) {
            try write("a", "b", to: one)
            try write("c", to: foreign)
            try follower.write("d")
            try write("a", "c", to: foreign)
            try write("e", to: one)
            #expect(try follower.takeChanges() == ["a", "b", "c", "own", "a", "c", "e"])
            try follower.write("a")
            #expect(try follower.takeChanges() == ["own"])
            // A log that begins again reuses the numbers.
            try write("f", "g", to: one)
            try DatabaseQueue(path: engine.file.path).write {
                try $0.execute(sql: "DELETE FROM emporium_changes_data")
            }
            try write("h", to: foreign)
            try follower.write("i")
            #expect(try follower.takeChanges() == ["everything", "own"])
            try write("j", "k", to: foreign)
            try follower.write("l")
            try write("m", to: one)
            #expect(try follower.takeChanges() == ["j", "k", "own", "m"])
        }
    }

    @Test("Own changes that share a transaction with others are known, and so is the order")
    func sharedTransaction() throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let one = SQLiteCollection(of: engine)
        let follower = Follower(of: SQLiteCollection(of: engine))
        _ = try follower.takeChanges()
        let (_, commits) = try engine.core.blockingWritable()
        let group = DispatchGroup()
        /// Runs a write on another thread, until it waits for the connection.
        func begin(_ count: Int, _ write: @escaping @Sendable () throws -> Void) {
            group.enter()
            Thread {
                do { try write() } catch { Issue.record(error) }
                group.leave()
            }.start()
            while commits.waitingCount < count { Thread.sleep(forTimeInterval: 0.001) }
        }
        let (isHeld, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        begin(0) {
            try engine.core.blockingWriteUnreported { _ in
                isHeld.signal()
                mayEnd.wait()
            }
        }
        isHeld.wait()
        begin(1) { try write("a", to: one) }
        begin(2) { try follower.write("b", "c") }
        begin(3) { try follower.write("b") }
        begin(4) { try write("b", "d", to: one) }
        begin(5) { try follower.write("e") }
        begin(6) { try write("f", to: one) }
        mayEnd.signal()
        group.wait()
        #expect(try follower.takeChanges() == ["a", "own", "own", "b", "d", "own", "f"])
    }

    @Test("A collection whose log was removed creates it again, and knows the changes after that")
    func removedLog() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let (collection, key) = (SQLiteCollection(of: engine), CacheKey("key"))
        var place = SQLiteFollowedState.nowhere
        try collection.readUpdate(since: { place }, { place = $0.place })
        try await engine.removeChangeLog()
        try await engine.write(Data("a".utf8), key: key)
        try collection.readUpdate(since: { place }) { update in
            #expect(update.changes(after: place) == nil && update.items.map(\.key) == [key])
            place = update.place
        }
        try await engine.remove(key: key)
        try collection.readUpdate(since: { place }) { update in
            #expect(update.changes(after: place)?.map(\.key) == [key] && update.items.isEmpty)
        }
    }
}
