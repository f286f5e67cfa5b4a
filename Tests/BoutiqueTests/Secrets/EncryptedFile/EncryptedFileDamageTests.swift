import Boutique
import Foundation
import TestSupport
import Testing

/// Encrypted secrets whose files are damaged, swapped or lost.
@Suite struct EncryptedFileDamageTests {
    private let fixture = SecretFolderFixture()
    private var storage: EncryptedFileSecretStorage { fixture.storage }
    private var key: URL { fixture.url.appendingPathComponent("master.key") }

    @Test func `A file with any single bit changed is undecodable, and is kept`() throws {
        try storage.write(Data("secret".utf8), to: .test())
        let file = try fixture.onlyFile()
        let bytes = try Data(contentsOf: file)
        #expect(bytes.count == 1 + 12 + 6 + 16)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1 << UInt8(index % 8)
            try fixture.overwrite(file, with: damaged)
            #expect(keychainCode { _ = try storage.read(.test()) } == .undecodable, "byte \(index)")
            #expect(try Data(contentsOf: file) == damaged)
        }
        try fixture.overwrite(file, with: bytes)
        #expect(try storage.read(.test()) == Data("secret".utf8))
    }

    @Test func `A shorter or longer file is undecodable`() throws {
        try storage.write(Data("secret".utf8), to: .test())
        let file = try fixture.onlyFile()
        let bytes = try Data(contentsOf: file)
        for count in 0..<bytes.count {
            try fixture.overwrite(file, with: bytes.prefix(count))
            #expect(keychainCode { _ = try storage.read(.test()) } == .undecodable, "\(count) bytes")
        }
        try fixture.overwrite(file, with: bytes + [0])
        #expect(keychainCode { _ = try storage.read(.test()) } == .undecodable)
    }

    @Test func `Swapped files are undecodable`() throws {
        try storage.write(Data("one".utf8), to: .test("1"))
        let one = try fixture.onlyFile()
        try storage.write(Data("two".utf8), to: .test("2"))
        let name = try #require(try fixture.secretNames().first { $0 != one.lastPathComponent })
        let two = fixture.url.appendingPathComponent(name)
        let contents = try [Data(contentsOf: one), Data(contentsOf: two)]
        try fixture.overwrite(one, with: contents[1])
        try fixture.overwrite(two, with: contents[0])
        for key in ["1", "2"] { #expect(keychainCode { _ = try storage.read(.test(key)) } == .undecodable) }
    }

    @Test func `Each write over a damaged file keeps that file aside`() throws {
        try storage.write(Data("secret".utf8), to: .test())
        let file = try fixture.onlyFile()
        for number in 1...3 {
            try fixture.overwrite(file, with: Data("damaged \(number)".utf8))
            try storage.write(Data("new \(number)".utf8), to: .test())
            #expect(try storage.read(.test()) == Data("new \(number)".utf8))
        }
        let kept = try fixture.secretNames().filter { $0.contains(".damaged") }
            .map { try Data(contentsOf: fixture.url.appendingPathComponent($0)) }
        #expect(Set(kept) == Set((1...3).map { Data("damaged \($0)".utf8) }))
    }

    @Test func `A damaged secret can be removed`() throws {
        try storage.write(Data("secret".utf8), to: .test())
        try fixture.overwrite(fixture.onlyFile(), with: Data("damaged".utf8))
        try storage.remove(.test())
        #expect(try storage.read(.test()) == nil)
        #expect(try fixture.secretNames().isEmpty)
    }

    @Test func `A lost key is an error, and is not replaced while there are secrets`() throws {
        try storage.write(Data("secret".utf8), to: .test())
        let kept = try Data(contentsOf: key)
        try FileManager.default.removeItem(at: key)
        expectEverythingThrows(.masterKeyLost)
        #expect(!FileManager.default.fileExists(atPath: key.path))
        try kept.write(to: key)
        try fixture.setPermissions(0o600, "master.key")
        #expect(try storage.read(.test()) == Data("secret".utf8))
    }

    @Test func `A lost key is an error even if only a damaged file that was kept remains`() throws {
        try storage.write(Data("secret".utf8), to: .test())
        try fixture.overwrite(fixture.onlyFile(), with: Data("damaged".utf8))
        try storage.write(Data("new".utf8), to: .test())
        try storage.remove(.test())
        #expect(try fixture.secretNames().count == 1)
        try FileManager.default.removeItem(at: key)
        expectEverythingThrows(.masterKeyLost)
    }

    @Test func `A lost key without secrets is created again`() throws {
        try storage.write(Data("secret".utf8), to: .test())
        try storage.remove(.test())
        try FileManager.default.removeItem(at: key)
        #expect(try storage.read(.test()) == nil)
        try storage.remove(.test())
        #expect(!FileManager.default.fileExists(atPath: key.path))
        try storage.write(Data("new".utf8), to: .test())
        #expect(try storage.read(.test()) == Data("new".utf8))
    }

    @Test func `Any damage to a key is an error, and the key is unchanged`() throws {
        try storage.write(Data("secret".utf8), to: .test())
        let bytes = try Data(contentsOf: key)
        var flipped = bytes
        flipped[20] ^= 4
        for damaged in [Data(), bytes.dropLast(), bytes + [0], flipped, Data("text".utf8)] {
            try fixture.overwrite(key, with: damaged)
            expectEverythingThrows(.masterKeyDamaged)
            #expect(try Data(contentsOf: key) == damaged)
        }
    }

    @Test func `With the key of another folder, secrets are absent or undecodable`() throws {
        let other = SecretFolderFixture()
        for fixture in [fixture, other] { try fixture.storage.write(Data("secret".utf8), to: .test()) }
        try fixture.overwrite(key, with: Data(contentsOf: other.url.appendingPathComponent("master.key")))
        // The name of the file depends on the key, too.
        #expect(try storage.read(.test()) == nil)
        let file = fixture.url.appendingPathComponent(try other.onlyFile().lastPathComponent)
        try FileManager.default.moveItem(at: fixture.onlyFile(), to: file)
        #expect(keychainCode { _ = try storage.read(.test()) } == .undecodable)
    }

    @Test func `Defect 13: a failed write throws and leaves the secret unchanged`() throws {
        try storage.write(Data("old".utf8), to: .test())
        try blockDraft()
        #expect(throws: KeychainError.self) { try storage.write(Data("new".utf8), to: .test()) }
        #expect(try storage.read(.test()) == Data("old".utf8))
    }

    @Test func `Defect 13: a failed removal throws and leaves the secret unchanged`() throws {
        try storage.write(Data("old".utf8), to: .test())
        let file = try fixture.onlyFile()
        try FileManager.default.removeItem(at: file)
        // Not even root can remove a folder in its place as a file.
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        #expect(throws: KeychainError.self) { try storage.remove(.test()) }
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `A draft that a crash has left is overwritten`() throws {
        try storage.write(Data("old".utf8), to: .test())
        try Data("half".utf8).write(to: fixture.url.appendingPathComponent("draft"))
        #expect(try storage.read(.test()) == Data("old".utf8))
        try storage.write(Data("new".utf8), to: .test())
        #expect(try storage.read(.test()) == Data("new".utf8))
        #expect(!FileManager.default.fileExists(atPath: fixture.url.appendingPathComponent("draft").path))
    }

    private func blockDraft() throws {
        let draft = fixture.url.appendingPathComponent("draft")
        try FileManager.default.createDirectory(at: draft, withIntermediateDirectories: false)
    }

    private func expectEverythingThrows(_ code: KeychainError.Code) {
        #expect(keychainCode { _ = try storage.read(.test()) } == code)
        #expect(keychainCode { try storage.write(Data(), to: .test()) } == code)
        #expect(keychainCode { try storage.remove(.test()) } == code)
    }
}
