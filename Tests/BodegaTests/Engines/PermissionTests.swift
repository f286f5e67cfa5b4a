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

/// Tests of the permissions of files that engines create.
@Suite struct PermissionTests {

    private let folder = TemporaryFolder()

    private func permissions(_ file: URL) throws -> mode_t {
        try status(file).st_mode & 0o777
    }

    private func status(_ file: URL) throws -> stat {
        try #require(try FileSystem.statusOfFile(file.path, file.path))
    }

    private func set(_ permissions: mode_t, _ file: URL) throws {
        try #require(chmod(file.path, permissions) == 0)
    }

    @Test("A copy of a database is no more readable than the database", arguments: [0o600, 0o640, 0o644] as [mode_t])
    func backup(mode: mode_t) async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try set(mode, engine.file)
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        let copy = folder.file("copy.sqlite3")
        try await engine.backup(to: copy)
        #expect(try permissions(copy) == mode)
        // This also holds for the draft, from its creation, for any file that it replaces.
        try set(0o600, copy)
        let size = try status(copy).st_size
        try await engine.backup(to: copy, replacing: true)
        #expect(try permissions(copy) == 0o600)
        #expect(try status(copy).st_size == size)
        #expect(try folder.names() == ["copy.sqlite3", "data.sqlite3", "data.sqlite3-shm", "data.sqlite3-wal"])
    }

    @Test("The files beside a database are no more readable than the database")
    func besideDatabase() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.close()
        try set(0o600, engine.file)
        let again = try SQLiteStorageEngine(opening: folder.directory)
        try await again.write(Data("a".utf8), key: CacheKey("a"))
        for suffix in ["-wal", "-shm"] {
            #expect(try permissions(URL(fileURLWithPath: engine.file.path + suffix)) == 0o600)
        }
        try await again.vacuum()
        #expect(try permissions(engine.file) == 0o600)
    }

    @Test("A disk item keeps its permissions when it is overwritten, alone or in a batch")
    func diskItems() async throws {
        let engine = try DiskStorageEngine(opening: folder.directory)
        let keys = ["a", "b"].map { CacheKey(verbatim: $0) }
        try await engine.write(keys.map { ($0, Data("1".utf8)) })
        let usual = try permissions(folder.file("b"))
        try set(0o600, folder.file("a"))
        try await engine.write(Data("2".utf8), key: keys[0])
        #expect(try permissions(folder.file("a")) == 0o600)
        try await engine.write(keys.map { ($0, Data("3".utf8)) })
        #expect(try permissions(folder.file("a")) == 0o600)
        #expect(try permissions(folder.file("b")) == usual)
        #expect(try await engine.fetchAllData() == [Data("3".utf8), Data("3".utf8)])
    }

    @Test("An item that moves to another file keeps its permissions")
    func movedItem() async throws {
        // Two keys with the same file name: a verbatim key, and a hashed key whose hash is that name.
        let core = DiskFolder(url: folder.url, durability: .relaxed)
        let hashed = CacheKey("a")
        let verbatim = CacheKey(verbatim: hashed.value)
        try core.apply([.write(key: verbatim, data: Data("v".utf8))], at: Date())
        let before = try #require(try core.file(of: verbatim))
        try set(0o600, before)
        try core.apply([.write(key: hashed, data: Data("h".utf8))], at: Date())
        let after = try #require(try core.file(of: verbatim))
        #expect(try permissions(after) == 0o600)
        #expect(try core.data(of: verbatim) == Data("v".utf8))
        #expect(try core.data(of: hashed) == Data("h".utf8))
    }

    @Test("A file that only a group may read is not readable by another group")
    func otherGroup() throws {
        var original = stat()
        original.st_gid = gid_t.max - 7
        func created(_ mode: mode_t) throws -> mode_t {
            original.st_mode = S_IFREG | mode
            let file = folder.file(UUID().uuidString)
            try FileSystem.createEmptyFile(at: file, as: [original])
            return try permissions(file)
        }
        #expect(try created(0o640) == 0o600)
        #expect(try created(0o644) == 0o644)
        try FileSystem.createEmptyFile(at: folder.file("own"), as: [])
        original.st_gid = try status(folder.file("own")).st_gid
        #expect(try created(0o640) == 0o640)
    }

    @Test("Items that root overwrites keep their owners", .enabled(if: geteuid() == 0))
    func owner() async throws {
        let engine = try DiskStorageEngine(opening: folder.directory)
        let key = CacheKey(verbatim: "a")
        try await engine.write(Data("1".utf8), key: key)
        try #require(chown(folder.file("a").path, 65534, 65534) == 0)
        try set(0o600, folder.file("a"))
        try await engine.write(Data("2".utf8), key: key)
        let status = try status(folder.file("a"))
        #expect(status.st_uid == 65534 && status.st_gid == 65534 && status.st_mode & 0o777 == 0o600)
    }
}
