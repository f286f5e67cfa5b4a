import Bodega
import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

/// Two synchronous collections of one SQLite file, one of which follows the other.
@Suite(.timeLimit(.minutes(30))) struct SQLiteFollowingTests {

    private let folder = TemporaryFolder()
    private let key = CacheKey("key")
    private let reported = Locked<[String]>([])

    private func tell(_ effects: [SQLiteEffect]) {
        for effect in effects {
            let text =
                switch effect {
                case .written(_, let data): "written \(String(decoding: data, as: UTF8.self))"
                case .removed(_, let data): "removed \(String(decoding: data, as: UTF8.self))"
                }
            reported.withLock { $0.append(text) }
        }
    }

    /// Observes the commits of others from now on.
    private func follow(_ collection: SQLiteCollection) throws -> @Sendable () -> Void {
        try #require(collection.observeCommits(at: collection.followedPlace().place, tell))
    }

    @Test("Removed items are reported with their data")
    func removal() throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let (one, other) = (SQLiteCollection(of: engine), SQLiteCollection(of: engine))
        let end = try follow(other)
        try one.update(at: Date(), { [key] _ in [.write(key: key, data: Data("a".utf8))] }, committed: {})
        try one.update(at: Date(), { [key] _ in [.remove(key: key)] }, committed: {})
        end()
        try one.update(at: Date(), { [key] _ in [.write(key: key, data: Data("b".utf8))] }, committed: {})
        #expect(reported.withLock { $0 } == ["written a", "removed a"])
    }

    @Test("An observer that registers while a change waits receives all its effects")
    func late() throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let (one, other) = (SQLiteCollection(of: engine), SQLiteCollection(of: engine))
        try one.update(at: Date(), { [key] _ in [.write(key: key, data: Data("a".utf8))] }, committed: {})
        let place = try other.followedPlace().place
        let body: @Sendable (SQLiteContents) throws -> [StorageOperation] = { [key, self] _ in
            _ = try #require(other.observeCommits(at: place, tell))
            return [.remove(key: key)]
        }
        try one.update(at: Date(), body, committed: {})
        #expect(reported.withLock { $0 } == ["removed a"])
    }

    @Test("A collection knows which changes in the log were reported, independently of their origins")
    func knownChanges() throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let foreign = SQLiteCollection(of: try SQLiteStorageEngine(opening: folder.directory))
        let (one, other) = (SQLiteCollection(of: engine), SQLiteCollection(of: engine))
        let end = try follow(other)
        var place = try other.followedPlace().place
        // The same origin everywhere, as in a program that has opened the file twice.
        let origin = StorageOrigin()
        func write(_ texts: String..., to collection: SQLiteCollection) throws {
            try StorageOrigin.$current.withValue(origin) {
                let operations = texts.map { StorageOperation.write(key: CacheKey($0), data: Data()) }
                try collection.update(at: Date(), { _ in operations }, committed: {})
            }
        }
        func update() throws -> [String]? {
            var shown: [String]?
            try other.readUpdate(since: place) { update in
                shown = update.changes?.map { "\($0.key.rawValue)\($0.isReported ? "" : " new")" }
                place = update.place
            }
            return shown
        }
        try write("a", "b", to: one)
        try write("c", to: foreign)
        try write("d", to: other)
        try write("a", "c", to: foreign)
        try write("e", to: one)
        #expect(try update() == ["a", "b", "c new", "d", "a new", "c new", "e"])
        #expect(try update() == [])
        // A log that begins again reuses the numbers.
        try write("f", "g", to: one)
        try DatabaseQueue(path: engine.file.path).write { try $0.execute(sql: "DELETE FROM emporium_changes_data") }
        try write("h", to: foreign)
        #expect(try update() == nil)
        try write("i", "j", to: foreign)
        #expect(try update() == ["i new", "j new"])
        end()
        try write("k", to: one)
        #expect(try update() == ["k new"])
    }

    @Test("A collection whose log was removed creates it again, and knows the changes after that")
    func removedLog() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let (collection, key) = (SQLiteCollection(of: engine), key)
        var place = try collection.followedPlace().place
        try await engine.removeChangeLog()
        try await engine.write(Data("a".utf8), key: key)
        try collection.readUpdate(since: place) { update in
            #expect(update.changes == nil && update.items.map(\.key) == [key])
            place = update.place
        }
        try await engine.remove(key: key)
        try collection.readUpdate(since: place) { update in
            #expect(update.changes?.map(\.key) == [key] && update.items.isEmpty)
        }
    }
}
