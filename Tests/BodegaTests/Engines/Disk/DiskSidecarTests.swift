import Bodega
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

/// Tests of entries that are not records, in the folder where the disk engine keeps records.
@Suite struct DiskSidecarTests {

    @Test("A pipe, a link or a folder in place of a record is ignored, and reading does not block")
    func nonRecords() async throws {
        let folder = TemporaryFolder()
        let keys = folder.file(".emporium/keys")
        try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: true)
        let names = ["folder", "link", "pipe"]
        for name in names { try Data(name.utf8).write(to: folder.file(name)) }
        try #require(mkfifo(keys.appendingPathComponent("pipe").path, 0o600) == 0)
        let link = keys.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.file("pipe"))
        try FileManager.default.createDirectory(
            at: keys.appendingPathComponent("folder"), withIntermediateDirectories: false)
        let engine = try DiskStorageEngine(opening: folder.directory)
        #expect(Set(try await engine.fetchAllData()) == Set(names.map { Data($0.utf8) }))
        #expect(try await engine.fetch(key: CacheKey(verbatim: "pipe")) == Data("pipe".utf8))
    }
}
