import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Two synchronous collections of one SQLite file, one of which follows the other.
@Suite(.timeLimit(.minutes(30))) struct SQLiteFollowingTests {

    private let folder = TemporaryFolder()
    private let key = CacheKey("key")
    private let told = Locked<[String]>([])

    private func tell(_ effects: [SQLiteEffect]) {
        for effect in effects {
            let text =
                switch effect {
                case .written(_, let data): "written \(String(decoding: data, as: UTF8.self))"
                case .removed(_, let data): "removed \(String(decoding: data, as: UTF8.self))"
                }
            told.withLock { $0.append(text) }
        }
    }

    @Test("What a collection removes is told with its data")
    func removal() throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let (one, other) = (SQLiteCollection(of: engine), SQLiteCollection(of: engine))
        let end = other.follow(tell)
        try one.update(at: Date(), { [key] _ in [.write(key: key, data: Data("a".utf8))] }, committed: {})
        try one.update(at: Date(), { [key] _ in [.remove(key: key)] }, committed: {})
        end()
        try one.update(at: Date(), { [key] _ in [.write(key: key, data: Data("b".utf8))] }, committed: {})
        #expect(told.withLock { $0 } == ["written a", "removed a"])
    }

    @Test("Who begins to follow while a change waits for its turn is told all that it comes to")
    func late() throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let (one, other) = (SQLiteCollection(of: engine), SQLiteCollection(of: engine))
        try one.update(at: Date(), { [key] _ in [.write(key: key, data: Data("a".utf8))] }, committed: {})
        let body: @Sendable (SQLiteContents) throws -> [StorageOperation] = { [key, self] _ in
            _ = other.follow(tell)
            return [.remove(key: key)]
        }
        try one.update(at: Date(), body, committed: {})
        #expect(told.withLock { $0 } == ["removed a"])
    }
}
