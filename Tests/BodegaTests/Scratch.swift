import Bodega
import Foundation
import Testing

@Test func scratch() async throws {
    let dir = FileManager.Directory(url: FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString))
    let engine = try SQLiteStorageEngine(opening: dir)
    let a = CacheKey("x"), b = CacheKey(verbatim: "x"), c = CacheKey(rawValue: "x", kind: .url)
    try await engine.write(Data("b".utf8), key: b)
    try await engine.write(Data("a".utf8), key: a)
    try await engine.write(Data("c".utf8), key: c)
    #expect(try await engine.fetchKeys() == [b, a, c])
    #expect(try await engine.fetchAll().map { String(decoding: $0.data, as: UTF8.self) } == ["b", "a", "c"])
    #expect(await engine.read(key: b) == Data("b".utf8))
    try await engine.remove(key: a)
    try await engine.write(Data("b2".utf8), key: b)
    #expect(await engine.read(key: b) == Data("b2".utf8))
    #expect(try await engine.fetchKeys() == [b, c])
    try await engine.remove(key: b)
    #expect(try await engine.fetchKeys() == [c])
    #expect(try await engine.fetchDates(key: c)?.createdAt != nil)
    let other = try engine.collection(named: "näme")
    #expect(try await other.fetchCount() == 0)
    try await other.write(Data(), key: a)
    #expect(try await other.fetch(key: a) == Data())
    #expect(try await engine.collectionNames() == ["näme"])
    try await engine.vacuum()
    #expect(try await engine.integrityCheck() == [])
    let copy = dir.url.appendingPathComponent("copy.sqlite3")
    try await engine.backup(to: copy)
    #expect(try await SQLiteStorageEngine(openingFile: copy).fetchKeys() == [c])
    await #expect(throws: StorageError.self) { try await engine.backup(to: copy) }
    let writers = 64
    try await withThrowingTaskGroup(of: Void.self) { group in
        for w in 0..<writers { group.addTask { for i in 0..<50 { try await engine.write(Data("\(i)".utf8), key: CacheKey("\(w)-\(i)")) } } }
        try await group.waitForAll()
    }
    #expect(await engine.keyCount() == writers * 50 + 1)
}
