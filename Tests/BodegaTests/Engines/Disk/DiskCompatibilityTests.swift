import Bodega
import Foundation
import TestSupport
import Testing

/// Tests of folders shared with the first Bodega. Its side is simulated by Foundation reading and writing files.
@Suite struct DiskCompatibilityTests {

    @Test("Files of Bodega are found by the keys that they were written under")
    func opensReferenceFolder() async throws {
        let folder = TemporaryFolder()
        let url = try #require(URL(string: "https://www.a.org/b/"))
        for key in [CacheKey("x"), CacheKey(url: url), CacheKey(verbatim: "notes.txt")] {
            try Data("value of \(key.value)".utf8).write(to: folder.file(key.value), options: .atomic)
        }
        let engine = DiskStorageEngine(directory: folder.directory)
        #expect(try await engine.fetchCount() == 3)
        for key in [CacheKey("x"), CacheKey(url: url), CacheKey(verbatim: "notes.txt")] {
            #expect(try await engine.fetch(key: key) == Data("value of \(key.value)".utf8))
            #expect(try await engine.fetchDates(key: key) != nil)
        }
        // Only the names are known, so the keys are verbatim. They find the items, too.
        let keys = try await engine.fetchKeys()
        #expect(Set(keys.map(\.value)) == [CacheKey("x").value, CacheKey(url: url).value, "notes.txt"])
        #expect(keys.allSatisfy { $0.kind == .verbatim })
        #expect(try await engine.fetchKeys(among: keys) == keys)
    }

    @Test(
        "A file that Bodega named after a URL with www. anywhere is found, overwritten and removed",
        arguments: [
            ("https://a.org/www.b", "a.org/b"), ("https://awww.org", "aorg"), ("www.a.org/b", "a.org/b"),
            ("https://www.www.a.org/", "a.org"),
        ])
    func originalNames(text: String, original: String) async throws {
        let folder = TemporaryFolder()
        let key = CacheKey(url: try #require(URL(string: text)))
        let file = folder.file(CacheKey(original).value)
        try Data("theirs".utf8).write(to: file)
        let engine = DiskStorageEngine(directory: folder.directory)
        #expect(try await engine.fetch(key: key) == Data("theirs".utf8))
        #expect(try await engine.fetchKeys(among: [key]) == [key])
        try await engine.write(Data("ours".utf8), key: key)
        #expect(try await engine.fetch(key: key) == Data("ours".utf8))
        #expect(try await engine.fetchKeys() == [key])
        try await engine.remove(key: key)
        #expect(try await engine.fetchCount() == 0)

        // Beside a file of this package, which Bodega does not find.
        try await engine.write(Data("ours".utf8), key: key)
        try Data("theirs".utf8).write(to: file)
        #expect(try await engine.fetch(key: key) == Data("ours".utf8))
        try await engine.remove(key: key)
        #expect(try await engine.fetch(key: key) == nil)
        #expect(try await engine.fetchCount() == 0)
    }

    @Test("A URL whose name Bodega would confuse with that of another URL is a separate item")
    func confusedNames() async throws {
        let folder = TemporaryFolder()
        let keys = try ["https://a.org/www.b", "https://a.org/b"].map { CacheKey(url: try #require(URL(string: $0))) }
        let engine = DiskStorageEngine(directory: folder.directory)
        try await engine.write(keys.map { ($0, Data($0.rawValue.utf8)) })
        for key in keys { #expect(try await engine.fetch(key: key) == Data(key.rawValue.utf8)) }
        try await engine.remove(key: keys[0])
        #expect(try await engine.fetchKeys() == [keys[1]])
    }

    @Test("Writing under a file's name does not hide it from the key that it was written under")
    func writingByName() async throws {
        let folder = TemporaryFolder()
        try Data("old".utf8).write(to: folder.file(CacheKey("x").value))
        let engine = DiskStorageEngine(directory: folder.directory)
        try await engine.write(Data("new".utf8), key: CacheKey(verbatim: CacheKey("x").value))
        #expect(try await engine.fetch(key: CacheKey("x")) == Data("new".utf8))
        #expect(try await engine.fetchCount() == 1)
    }

    @Test("An item's file has the name that Bodega gives it, and contains only the item's bytes")
    func referenceReadsOurFolder() async throws {
        let folder = TemporaryFolder()
        let keys = [CacheKey("x"), CacheKey(verbatim: "a.txt"), CacheKey(rawValue: "a.org", kind: .url)]
        do {
            let engine = DiskStorageEngine(directory: folder.directory)
            try await engine.write(keys.map { ($0, Data($0.rawValue.utf8)) })
            // The engine does this when it is released, which may happen a moment later than here.
            try await engine.removeLeftovers()
        }
        #expect(try folder.names() == keys.map(\.value).sorted())
        for key in keys {
            #expect(try Data(contentsOf: folder.file(key.value)) == Data(key.rawValue.utf8))
        }
    }

    @Test("A file that Bodega replaced is found and read")
    func referenceReplacesOurFile() async throws {
        let folder = TemporaryFolder()
        let engine = DiskStorageEngine(directory: folder.directory)
        try await engine.write(Data("ours".utf8), key: CacheKey("x"))
        try Data("theirs".utf8).write(to: folder.file(CacheKey("x").value), options: .atomic)
        #expect(try await engine.fetch(key: CacheKey("x")) == Data("theirs".utf8))
    }

    @Test("Subfolders, links and files that a system adds to any folder are not items, and stay")
    func otherEntries() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.file("sub"), withIntermediateDirectories: false)
        try Data().write(to: folder.file(".DS_Store"))
        try FileManager.default.createSymbolicLink(
            at: folder.file("link"), withDestinationURL: folder.file(".DS_Store"))
        let engine = DiskStorageEngine(directory: folder.directory)
        #expect(try await engine.fetchCount() == 0)
        #expect(try await engine.fetch(key: CacheKey(verbatim: "sub")) == nil)
        try await engine.removeAllData()
        #expect(try folder.names().filter { $0 != ".emporium" } == [".DS_Store", "link", "sub"])
    }

    @Test("A frozen folder opens with all of its items")
    func fixture() async throws {
        let folder = TemporaryFolder()
        let copy = folder.file("copy")
        try FileManager.default.copyItem(at: Fixtures.file("emporium-1-disk"), to: copy)
        let engine = try DiskStorageEngine(opening: FileManager.Directory(url: copy))
        let keys = [
            CacheKey("second"), CacheKey("first"), CacheKey("ünïcödé/🐼"), CacheKey(verbatim: "second"),
            CacheKey(rawValue: "example.com/a", kind: .url),
        ]
        #expect(try await engine.fetchKeys() == keys)
        #expect(try await engine.fetchAllData() == keys.map { Data("value of \($0)".utf8) })
        #expect(
            try await engine.fetchDates(key: CacheKey("first"))
                == StorageDates(
                    createdAt: Date(timeIntervalSince1970: 1_655_922_600.25),
                    updatedAt: Date(timeIntervalSince1970: 1_655_922_601.5)
                )
        )
    }

    @Test("A batch that was committed before a crash is finished; one that was not is discarded")
    func recovery() async throws {
        let folder = TemporaryFolder()
        let writer = DiskStorageEngine(directory: folder.directory)
        try await writer.write(["a", "b"].map { (CacheKey(verbatim: $0), Data("1".utf8)) })
        let control = folder.file(".emporium")
        for name in ["staging", "commit"] {
            let batch = control.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: batch, withIntermediateDirectories: true)
            try Data("of \(name)".utf8).write(to: batch.appendingPathComponent("0"))
            try Data("Wc\0Ra\0E".utf8).write(to: batch.appendingPathComponent("list"))
        }
        try Data("half an it".utf8).write(to: control.appendingPathComponent("item"))

        let engine = DiskStorageEngine(directory: folder.directory)
        #expect(try await engine.fetch(key: CacheKey(verbatim: "c")) == Data("of commit".utf8))
        #expect(Set(try await engine.fetchKeys()) == [CacheKey(verbatim: "b"), CacheKey(verbatim: "c")])
        // A released engine removes the control folder, so the writer must live until here.
        #expect(try folder.names() == ["b", "c"])
        withExtendedLifetime(writer) {}
    }

    @Test("A reader that was open before the crash finishes the batch, too")
    func recoveryByReader() async throws {
        let folder = TemporaryFolder()
        let engine = DiskStorageEngine(directory: folder.directory)
        try await engine.write(Data("1".utf8), key: CacheKey(verbatim: "a"))
        let batch = folder.file(".emporium/commit")
        try FileManager.default.createDirectory(at: batch, withIntermediateDirectories: true)
        try Data("2".utf8).write(to: batch.appendingPathComponent("0"))
        try Data("Wa\0E".utf8).write(to: batch.appendingPathComponent("list"))
        #expect(try await engine.fetch(key: CacheKey(verbatim: "a")) == Data("2".utf8))
    }

    @Test(
        "A damaged list of a batch is reported and changes nothing", arguments: ["", "Wa\0", "Xa\0E", "Wa\0E\0"])
    func damagedList(list: String) async throws {
        let folder = TemporaryFolder()
        try Data("1".utf8).write(to: folder.file("a"))
        let batch = folder.file(".emporium/commit")
        try FileManager.default.createDirectory(at: batch, withIntermediateDirectories: true)
        try Data("2".utf8).write(to: batch.appendingPathComponent("0"))
        try Data(list.utf8).write(to: batch.appendingPathComponent("list"))
        let engine = DiskStorageEngine(directory: folder.directory)
        await #expect { try await engine.fetchAll() } throws: { ($0 as? StorageError)?.code == .damaged }
        #expect(try Data(contentsOf: folder.file("a")) == Data("1".utf8))
    }
}
