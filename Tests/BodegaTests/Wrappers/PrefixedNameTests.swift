import Bodega
import TestSupport
import Foundation
import Testing

/// Names of prefixed collections with characters that are written in another way.
@Suite struct PrefixedNameTests {
    @Test func `Collections share no keys, with any characters after a slash or a percent sign`() async throws {
        let names = [
            "a", "a/\u{301}b", "a/b", "a%2Fb", "a%\u{301}2Fb", "a%2F\u{301}b", "a%", "a%25", "/", "", "%/", "/%",
            "\r\n/",
            "a/\u{FE0F}",
        ]
        let engine = MemoryStorageEngine()
        let key = CacheKey(verbatim: "k")
        for name in names { try await engine.prefixed(name).write(Data(name.utf8), key: key) }
        #expect(try await engine.fetchCount() == names.count)
        for name in names {
            let items = try await engine.prefixed(name).fetchAll()
            #expect(items.map(\.key) == [key] && items.map(\.data) == [Data(name.utf8)], "\(name.debugDescription)")
        }
        for (number, name) in names.enumerated() {
            try await engine.prefixed(name).removeAllData()
            #expect(try await engine.fetchCount() == names.count - number - 1, "\(name.debugDescription)")
        }
    }
}
