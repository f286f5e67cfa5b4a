@testable import Bodega
import Foundation
import TestSupport
import Testing

/// The engine of the default folder can't throw when it is created, so it opens its file when it can.
@Suite struct SQLiteDefaultTests {

    private let folder = TemporaryFolder()
    private var file: URL { folder.file("data.sqlite3") }

    private func code<Result>(_ work: () async throws -> Result) async -> StorageError.Code? {
        do {
            _ = try await work()
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }

    @Test("An engine whose file can't be opened throws, changes nothing, and opens the file when it can")
    func opensLater() async throws {
        let garbage = Data(repeating: 7, count: 4096)
        try garbage.write(to: file)
        let engine = SQLiteStorageEngine.openedOrOpening(in: folder.directory)
        let key = CacheKey("a")
        for _ in 1...2 {
            #expect(await code { try await engine.fetch(key: key) } == .damaged)
            #expect(await code { try await engine.fetchAll() } == .damaged)
            #expect(await code { try await engine.fetchSnapshot() } == .damaged)
            #expect(await code { try await engine.write(Data(), key: key) } == .damaged)
            #expect(await code { try await engine.collection(named: "b").fetchCount() } == .damaged)
        }
        #expect(try Data(contentsOf: file) == garbage)
        try FileManager.default.removeItem(at: file)
        try await engine.write(Data("a".utf8), key: key)
        #expect(try await SQLiteStorageEngine(opening: folder.directory).fetch(key: key) == Data("a".utf8))
        try await engine.close()
        #expect(await code { try await engine.fetch(key: key) } == .closed)
    }

    @Test("Concurrent uses of an engine open its file once", arguments: 1...5)
    func opensOnce(_ round: Int) async throws {
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        let engine = SQLiteStorageEngine.openedOrOpening(in: folder.directory)
        #expect(await code { try await engine.fetchCount() } == .cannotOpen)
        try FileManager.default.removeItem(at: file)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await engine.write(Data(), key: CacheKey("\(number)"))
                    _ = try await engine.fetch(key: CacheKey("\(number)"))
                }
            }
            try await group.waitForAll()
        }
        #expect(try await engine.fetchCount() == 20)
    }

    @Test("An engine that was closed before its file could be opened stays closed")
    func closedBefore() async throws {
        try Data(repeating: 7, count: 4096).write(to: file)
        let engine = SQLiteStorageEngine.openedOrOpening(in: folder.directory)
        try await engine.close()
        try FileManager.default.removeItem(at: file)
        #expect(await code { try await engine.write(Data(), key: CacheKey("a")) } == .closed)
        #expect(await code { try await engine.fetchCount() } == .closed)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("The default engine uses the first folder with a file, and else the first folder")
    func folders() async throws {
        let folders = ["new", "Data", ""].map { FileManager.Directory(url: folder.file($0)) }
        #expect(SQLiteStorageEngine.firstWithDatabase(of: folders).url == folders[0].url)
        for index in [2, 1, 0] {
            try await SQLiteStorageEngine(opening: folders[index]).close()
            #expect(SQLiteStorageEngine.firstWithDatabase(of: folders).url == folders[index].url)
        }
    }
}
