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

/// Tests of file names with pitfalls: equal on some volumes, renamed, from odd clocks.
@Suite struct DiskNameTests {

    private static let composed = CacheKey(verbatim: "\u{E9}")
    private static let decomposed = CacheKey(verbatim: "e\u{301}")

    @Test("Names that only look alike are two files, even in one batch", arguments: [false, true])
    func alike(inOneBatch: Bool) async throws {
        let folder = TemporaryFolder()
        let engine = DiskStorageEngine(directory: folder.directory)
        let keys = [Self.composed, Self.decomposed]
        if inOneBatch {
            try await engine.write(keys.map { ($0, Data("1".utf8)) })
        } else {
            for key in keys { try await engine.write(Data("1".utf8), key: key) }
        }
        try await engine.write([(keys[0], Data("2".utf8)), (keys[1], Data("3".utf8))])
        #expect(try await engine.fetchKeys() == keys)
        #expect(try await engine.fetchAllData() == [Data("2".utf8), Data("3".utf8)])
        try await engine.remove(keys: keys)
        #expect(try await engine.fetchCount() == 0)
        for key in keys { try await engine.write(Data(), key: key) }
        try await engine.removeAllData()
        #expect(try await engine.fetchCount() == 0)
    }

    @Test("On a volume that treats two names as equal, the items of one batch stay separate")
    func ignoringCase() throws {
        let folder = TemporaryFolder()
        let core = DiskFolder(url: folder.url, durability: .relaxed, ignoresCase: true)
        let keys = ["A", "a", "\u{E9}", "e\u{301}"].map { CacheKey(verbatim: $0) }
        try core.apply(keys.map { .write(key: $0, data: Data($0.rawValue.utf8)) }, at: Date())
        #expect(try core.allItems().map(\.key) == keys)
        #expect(try core.allItems().map(\.data) == keys.map { Data($0.rawValue.utf8) })
        // No two files have names that such a volume treats as equal.
        let names = try folder.names().map { $0.lowercased().decomposedStringWithCanonicalMapping }
        #expect(Set(names).count == names.count)
    }

    @Test("A renamed file is the item of its new name")
    func renamed() async throws {
        let folder = TemporaryFolder()
        let engine = DiskStorageEngine(directory: folder.directory)
        try await engine.write(Data("1".utf8), key: CacheKey(verbatim: "a.txt"))
        rename(folder.file("a.txt").path, folder.file("b.txt").path)
        #expect(try await engine.fetchKeys() == [CacheKey(verbatim: "b.txt")])
        #expect(try await engine.fetch(key: CacheKey(verbatim: "b.txt")) == Data("1".utf8))
        #expect(try await engine.fetch(key: CacheKey(verbatim: "a.txt")) == nil)
        try await engine.remove(keys: engine.fetchKeys())
        #expect(try await engine.fetchCount() == 0)
    }

    @Test(
        "A file whose name differs from its key in case or form only is an item of its own",
        arguments: [("a.txt", "A.txt"), ("\u{E9}", "e\u{301}")], [true, false])
    func alike(names: (String, String), isCopied: Bool) async throws {
        let folder = TemporaryFolder()
        let core = DiskFolder(url: folder.url, durability: .relaxed)
        let engine = DiskStorageEngine(directory: folder.directory)
        let (key, other) = (CacheKey(verbatim: names.0), CacheKey(verbatim: names.1))
        try await engine.write(Data("1".utf8), key: key)
        let (file, place) = (folder.url.path + "/" + names.0, folder.url.path + "/" + names.1)
        // A volume that takes both names for one has the item under both.
        if access(place, F_OK) == 0 { return }
        if isCopied {
            // As a program does that copies the attributes, too.
            let source = TemporaryFolder()
            try await DiskStorageEngine(directory: source.directory).write(Data("2".utf8), key: key)
            #expect(rename(source.url.path + "/" + names.0, place) == 0)
        } else {
            #expect(rename(file, place) == 0)
        }
        let expected = isCopied ? [key: Data("1".utf8), other: Data("2".utf8)] : [other: Data("1".utf8)]
        for _ in 0..<2 {
            let all = try await engine.fetchAll()
            #expect(all.count == expected.count)
            #expect(Dictionary(all.map { ($0.key, $0.data) }, uniquingKeysWith: { first, _ in first }) == expected)
        }
        #expect(try await engine.fetch(key: key) == expected[key])
        #expect(try await engine.fetch(key: other) == expected[other])
        try await engine.remove(key: key)
        #expect(try await engine.fetchKeys() == [other])
        try await engine.write(Data("3".utf8), key: other)
        #expect(try core.allItems().map(\.data) == [Data("3".utf8)])
        #expect(try folder.names().filter { $0 != ".emporium" } == [names.1])
    }

    @Test("A file from the year 2300 is an item")
    func farFuture() async throws {
        let folder = TemporaryFolder()
        try Data("1".utf8).write(to: folder.file("a"))
        var times = [timeval(tv_sec: 10_413_792_000, tv_usec: 0), timeval(tv_sec: 10_413_792_000, tv_usec: 0)]
        #expect(utimes(folder.file("a").path, &times) == 0)
        #expect(try await DiskStorageEngine(directory: folder.directory).fetchAllData() == [Data("1".utf8)])
    }

    @Test("New items come last, even after the clock was set back")
    func clockSetBack() throws {
        let folder = TemporaryFolder()
        for (name, time) in [("c", 3_000), ("b", 1_000), ("a", 2_000)] {
            let core = DiskFolder(url: folder.url, durability: .relaxed, clock: { Int64(time) })
            try core.apply([.write(key: CacheKey(name), data: Data())], at: Date())
        }
        let core = DiskFolder(url: folder.url, durability: .relaxed)
        #expect(try core.allKeys() == ["c", "b", "a"].map { CacheKey($0) })
    }
}
