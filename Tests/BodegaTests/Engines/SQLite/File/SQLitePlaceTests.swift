@testable import Bodega
import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

/// Where a database file is: behind symbolic links, in folders without permission, at long paths.
@Suite struct SQLitePlaceTests {

    private let folder = TemporaryFolder()
    private let key = CacheKey("a")

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        (await #expect(throws: StorageError.self) { _ = try await body() })?.code
    }

    /// Makes a symbolic link point to another folder, in one step.
    private func point(_ link: String, to target: String) throws {
        let new = folder.file(UUID().uuidString).path
        try FileManager.default.createSymbolicLink(atPath: new, withDestinationPath: target)
        #expect(rename(new, folder.file(link).path) == 0)
    }

    /// The number of items of a file, counted by SQLite itself.
    private func count(in file: URL) throws -> Int? {
        try DatabaseQueue(path: file.path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM data") }
    }

    /// Creates two folders with a file of one item each, and a link to the first one.
    private func createReleases() async throws {
        for name in ["41", "42"] {
            let engine = try SQLiteStorageEngine(opening: .init(url: folder.file("releases/\(name)")))
            try await engine.write(Data(name.utf8), key: key)
            try await engine.close()
        }
        try point("current", to: "releases/41")
    }

    @Test("After a symbolic link was pointed elsewhere, neither reads nor writes use the old file")
    func movedLink() async throws {
        try await createReleases()
        let engine = try SQLiteStorageEngine(opening: .init(url: folder.file("current")))
        let other = try engine.collection(named: "other")
        let collection = SQLiteCollection(of: engine)
        try await engine.write(Data(), key: CacheKey("before"))
        _ = try await engine.fetchAll()
        let cursor = try await engine.fetchCursor()
        try point("current", to: "releases/42")
        let data = Data("lost".utf8)
        #expect(await code { try await engine.write(data, key: key) } == .placeRemoved)
        #expect(await code { try await engine.apply([.removeAll]) } == .placeRemoved)
        #expect(await code { try await other.write(data, key: key) } == .placeRemoved)
        #expect(await code { try await engine.fetch(key: key) } == .placeRemoved)
        #expect(await code { try await engine.fetch(keys: [key, CacheKey("before")]) } == .placeRemoved)
        #expect(await code { try await engine.fetchCount() } == .placeRemoved)
        #expect(await code { try await engine.fetchChanges(since: cursor, excluding: nil) } == .placeRemoved)
        #expect(await code { try collection.allItems() } == .placeRemoved)
        #expect(try count(in: folder.file("releases/41/data.sqlite3")) == 2)
        #expect(try count(in: folder.file("releases/42/data.sqlite3")) == 1)
        let again = try SQLiteStorageEngine(opening: .init(url: folder.file("current")))
        #expect(try await again.fetch(key: key) == Data("42".utf8))
        // Pointed back, the open file is in its place again.
        try point("current", to: "releases/41")
        try await engine.write(data, key: CacheKey("after"))
        #expect(try await engine.fetchCount() == 3)
    }

    @Test("An engine that may not write follows a symbolic link to another file")
    func readerBehindLink() async throws {
        try await createReleases()
        let file = folder.file("current/data.sqlite3")
        let reader = try SQLiteStorageEngine(readingFile: file)
        #expect(try await reader.fetch(key: key) == Data("41".utf8))
        try point("current", to: "releases/42")
        #expect(try await reader.fetch(key: key) == Data("42".utf8))
        try point("current", to: "nowhere")
        #expect(await code { try await reader.fetch(key: key) } == .placeRemoved)
    }

    @Test(
        "A file that is moved over an open one has nothing of it after the engine is gone, and the former one has all",
        arguments: ["close", "release"])
    func movedOver(ending: String) async throws {
        let (copy, former) = (folder.file("copy.sqlite3"), folder.file("former.sqlite3"))
        let file: URL
        do {
            let engine = try SQLiteStorageEngine(opening: folder.directory)
            file = engine.file
            try await engine.write(Data("a".utf8), key: key)
            try await engine.backup(to: copy)
            try await engine.write((0..<50).map { (CacheKey("\($0)"), Data(repeating: 7, count: 300)) })
            #expect(rename(file.path, former.path) == 0 && rename(copy.path, file.path) == 0)
            #expect(await code { try await engine.write(Data(), key: key) } == .placeRemoved)
            if ending == "close" { try await engine.close() }
        }
        #expect(try count(in: file) == 1)
        #expect(try count(in: former) == 51)
    }

    @Test(
        "A file that is opened in the place of an open one has nothing of that one, which keeps all",
        arguments: ["to write", "to read", "to write by another engine of the process"])
    func openedInPlace(use: String) async throws {
        let (copy, former) = (folder.file("copy.sqlite3"), folder.file("former.sqlite3"))
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let second = try SQLiteStorageEngine(opening: folder.directory)
        let file = engine.file
        try await engine.write(Data("a".utf8), key: key)
        try await engine.backup(to: copy)
        let items = (0..<50).map { (CacheKey("\($0)"), Data(repeating: 7, count: 300)) }
        try await engine.write(items)
        #expect(try await second.fetchCount() == 51)
        #expect(rename(file.path, former.path) == 0 && rename(copy.path, file.path) == 0)
        if use == "to read" {
            let reader = try SQLiteStorageEngine(readingFile: file)
            #expect(try await reader.fetchKeys() == [key])
            try await reader.close()
        }
        let current = try SQLiteStorageEngine(opening: folder.directory)
        #expect(try await current.fetchKeys() == [key])
        try await current.write(items.prefix(20).map { ($0.0, Data()) })
        if use == "to write by another engine of the process" {
            let another = try SQLiteStorageEngine(opening: folder.directory)
            #expect(try await another.fetchCount() == 21)
        }
        // The path's WAL and locks are those of the current file.
        #expect(await code { try await engine.write(Data(), key: key) } == .placeRemoved)
        #expect(await code { try await second.fetchCount() } == .placeRemoved)
        try await engine.close()
        #expect(try count(in: file) == 21)
        try await current.write(Data(), key: CacheKey("last"))
        try await current.close()
        #expect(try count(in: file) == 22)
        #expect(try count(in: former) == 51)
        // Back in its place, the former file is that of its engines again.
        #expect(unlink(file.path) == 0 && rename(former.path, file.path) == 0)
        #expect(try await second.fetchCount() == 51)
        try await second.write(Data(), key: CacheKey("last"))
        try await second.close()
        #expect(try count(in: file) == 52)
        let complaints = try await DatabaseQueue(path: file.path).read {
            try String.fetchAll($0, sql: "PRAGMA integrity_check")
        }
        #expect(complaints == ["ok"])
    }

    @Test("A file that was moved while it is read is not mixed with one that is opened in its place")
    func openedDuringRead() async throws {
        let (copy, former) = (folder.file("copy.sqlite3"), folder.file("former.sqlite3"))
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let (file, directory) = (engine.file, folder.directory)
        try await engine.write(Data("a".utf8), key: key)
        try await engine.backup(to: copy)
        try await engine.write((0..<50).map { (CacheKey("\($0)"), Data(repeating: 7, count: 300)) })
        let found = try await engine.core.readMany { db in
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM data")
            #expect(rename(file.path, former.path) == 0 && rename(copy.path, file.path) == 0)
            let error = #expect(throws: StorageError.self) { try SQLiteStorageEngine(opening: directory) }
            #expect(error?.code == .locked)
            return count
        }
        #expect(found == 51)
        let current = try SQLiteStorageEngine(opening: directory)
        #expect(try await current.fetchKeys() == [key])
        try await current.close()
        #expect(try count(in: former) == 51)
    }

    @Test("A folder of items behind a symbolic link is the one that the link names")
    func diskBehindLink() async throws {
        for name in ["41", "42"] {
            try await DiskStorageEngine(opening: .init(url: folder.file("releases/\(name)"))).write(
                Data(name.utf8), key: key)
        }
        try point("current", to: "releases/41")
        let engine = try DiskStorageEngine(opening: .init(url: folder.file("current")))
        #expect(try await engine.fetch(key: key) == Data("41".utf8))
        try point("current", to: "releases/42")
        try await engine.write(Data(), key: CacheKey("b"))
        #expect(try await engine.fetch(key: key) == Data("42".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("releases/41").path).count == 1)
    }

    @Test("A folder without permission is not taken for a removed one", arguments: ["sqlite", "disk"])
    func noPermission(kind: String) async throws {
        let place = folder.file("place")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        if geteuid() == 0 { #expect(chown(place.path, 65534, 65534) == 0) }
        let lines = await (try Child("lose-permission", kind, place.path)).lines()
        var calls = ["fetch", "fetchAll", "write", "read", "open", "open-reading"]
        if kind == "sqlite" { calls.append("open-existing") }
        #expect(lines == calls.map { "\($0) permissionDenied" } + ["all succeeded"])
    }

    /// A path of a number of bytes, below folders that exist.
    private func path(ofLength length: Int) throws -> URL {
        var parent = URL(fileURLWithPath: FileSystem.resolvedPath(folder.path))
        while length - parent.path.utf8.count > 200 { parent.appendPathComponent(String(repeating: "d", count: 90)) }
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        let name = String(repeating: "n", count: length - parent.path.utf8.count - 1 - ".sqlite3".utf8.count)
        return parent.appendingPathComponent(name + ".sqlite3")
    }

    @Test("A path that is too long for SQLite is reported as such", arguments: 500...510)
    func longPath(length: Int) async throws {
        let file = try path(ofLength: length)
        #expect(file.path.utf8.count == length)
        let isSupported: Bool
        do {
            let queue = try DatabaseQueue(path: file.path)
            try await queue.write { try $0.execute(sql: "CREATE TABLE other (number INTEGER)") }
            try queue.close()
            isSupported = true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN {
            isSupported = false
            // A database that another program has put there.
            let original = folder.file("original.sqlite3")
            try await DatabaseQueue(path: original.path).write {
                try $0.execute(sql: "CREATE TABLE other (number INTEGER)")
            }
            try FileManager.default.copyItem(at: original, to: file)
        }
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        for place in [file, link] {
            if isSupported {
                try await SQLiteStorageEngine(openingFile: place).close()
                #expect(try StoreNature(ofPath: place.path) == .sqlite)
                continue
            }
            #expect(await code { try SQLiteStorageEngine(openingFile: place) } == .invalidArgument)
            #expect(await code { try SQLiteStorageEngine(openingFile: place, mustExist: true) } == .invalidArgument)
            #expect(await code { try SQLiteStorageEngine(readingFile: place) } == .invalidArgument)
            #expect(await code { try StoreNature(ofPath: place.path) } == .invalidArgument)
        }
        let source = try SQLiteStorageEngine(opening: .init(url: folder.file("source")))
        if !isSupported {
            let copy = file.deletingLastPathComponent().appendingPathComponent("c" + file.lastPathComponent.dropFirst())
            #expect(await code { try await source.backup(to: copy) } == .invalidArgument)
        }
        // Nothing is created for a path that can't be used.
        let absent = folder.file(
            "absent/" + String(repeating: "x", count: 250) + "/" + String(repeating: "y", count: 250))
        #expect(await code { try SQLiteStorageEngine(opening: .init(url: absent)) } == .invalidArgument)
        #expect(!FileManager.default.fileExists(atPath: folder.file("absent").path))
    }
}
