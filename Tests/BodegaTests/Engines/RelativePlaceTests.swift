import Bodega
import Foundation
import TestSupport
import Testing

@Suite("A place that is given by a relative URL")
struct RelativePlaceTests {

    @Test("is in the working directory of the moment in which it was opened")
    func changedFolder() async throws {
        let (first, second) = (TemporaryFolder(), TemporaryFolder())
        let child = try Child(["move-to-another-folder", first.path, second.path])
        let lines = await child.lines()
        // As the system resolves the folder, which may be behind a symbolic link.
        let places = lines.suffix(2).map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
        #expect(lines.dropLast(2) == ["1 1", "1 1", "1 1", "1"])
        #expect(places == ["disk", "file.db"].map { first.file($0).resolvingSymlinksInPath().path })
        func names(_ folder: TemporaryFolder, _ path: String = "") throws -> [String] {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + path)
            return names.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.sorted()
        }
        #expect(try names(first) == ["deep", "disk", "file.db", "letters", "rows", "secrets"])
        #expect(try names(first, "/deep/sqlite") == ["data.sqlite3"])
        // A backup is made when it is asked for.
        #expect(try names(second) == ["backup.db"])
        let engine = try SQLiteStorageEngine(openingFile: first.file("deep/sqlite/data.sqlite3"))
        #expect(try await engine.fetchAllData() == [Data([1])])
    }
}
