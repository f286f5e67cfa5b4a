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

    @Test("A collection in a copy of a folder without extended attributes is not empty, but can't be read")
    func copiedFolder() async throws {
        let (original, copy) = (TemporaryFolder(), TemporaryFolder())
        let engine = DiskStorageEngine(directory: original.directory).prefixed("sheep")
        let keys = ["dolly", "molly", "polly"].map { CacheKey($0) }
        try await engine.write(keys.map { ($0, Data(#"{"id":"\#($0.rawValue)"}"#.utf8)) })
        try Self.copyNamesAndBytes(original, to: copy)
        let base = DiskStorageEngine(directory: copy.directory)
        let copied = base.prefixed("sheep")
        #expect(try await copied.fetchKeys().count == 3)
        let error = await #expect(throws: StorageError.self) { try await copied.fetchAll() }
        #expect(error?.code == .decodingFailed)
        #expect(error?.message.contains("extended attributes") == true)
        for key in keys { #expect(try await copied.fetch(key: key) == engine.fetch(key: key)) }

        let answer = try await copied.fetch(
            FetchRequest(try await copied.fetchKeys(), options: ReadOptions(omitsUnreadable: true)))
        #expect(answer.value.isEmpty && answer.report.unreadable.count == 3)
        try await copied.removeAllData()
        #expect(try await base.fetchCount() == 3)
        try await copied.remove(key: try await copied.fetchKeys()[0])
        #expect(try await base.fetchCount() == 2)
    }

    /// Copies files as cp -r and tar do, without extended attributes.
    private static func copyNamesAndBytes(_ original: TemporaryFolder, to copy: TemporaryFolder) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: original.path) where !name.hasPrefix(".") {
            try Data(contentsOf: original.file(name)).write(to: copy.file(name))
        }
    }

    @Test("An encrypted item in such a copy can be read by its key, and the error of a list says how to copy")
    func copiedEncryptedFolder() async throws {
        let (original, copy, keyset) = (TemporaryFolder(), TemporaryFolder(), EncryptionKeyset())
        func engine(_ folder: TemporaryFolder) -> EncryptedStorageEngine {
            DiskStorageEngine(directory: folder.directory).encrypted(with: keyset)
        }
        try await engine(original).write(Data("1".utf8), key: CacheKey("dolly"))
        try Self.copyNamesAndBytes(original, to: copy)
        let error = await #expect(throws: StorageError.self) { try await engine(copy).fetchAll() }
        #expect(error?.code == .decryptionFailed && error?.key != nil)
        #expect(error?.message.contains("extended attributes") == true)
        #expect(try await engine(copy).fetch(key: CacheKey("dolly")) == Data("1".utf8))
    }
}
