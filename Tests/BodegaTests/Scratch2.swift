import Bodega
import Foundation
import Testing

@Test func scratchDisk() async throws {
    let dir = FileManager.Directory(url: FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString))
    let engine = try DiskStorageEngine(opening: dir)
    let a = CacheKey("x"), b = CacheKey(verbatim: a.value), c = CacheKey(rawValue: "x", kind: .url), d = CacheKey("a/b")
    let e = CacheKey(String(repeating: "k", count: 10_000))
    try await engine.write(Data("b".utf8), key: b)
    try await engine.write(Data("a".utf8), key: a)
    try await engine.write([(c, Data("c".utf8)), (d, Data("d".utf8)), (e, Data())])
    #expect(try await engine.fetchKeys() == [b, a, c, d, e])
    #expect(try await engine.fetchAll().map { String(decoding: $0.data, as: UTF8.self) } == ["b", "a", "c", "d", ""])
    #expect(await engine.read(key: b) == Data("b".utf8))
    try await engine.remove(key: a)
    try await engine.write(Data("b2".utf8), key: b)
    #expect(await engine.read(key: b) == Data("b2".utf8))
    #expect(try await engine.fetchKeys() == [b, c, d, e])
    try await engine.remove(keys: [b, d])
    #expect(try await engine.fetchKeys() == [c, e])
    #expect(try await engine.fetchDates(key: c)?.createdAt != nil)
    try await engine.apply([.write(key: a, data: Data()), .removeAll, .write(key: e, data: Data("e".utf8))])
    #expect(try await engine.fetchKeys() == [e])
    #expect(try await engine.fetch(key: e) == Data("e".utf8))
    for key in [a, b, c] { try await engine.write(Data(key.kind.rawValue.utf8), key: key) }
    #expect(try await engine.fetchKeys() == [e, a, b, c])
    print(try FileManager.default.contentsOfDirectory(atPath: dir.url.path))
}
