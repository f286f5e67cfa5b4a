import Boutique
import Foundation
import TestSupport
import Testing

/// Permissions and contents of the folder of encrypted secrets.
@Suite struct EncryptedFilePrivacyTests {
    private let fixture = SecretFolderFixture()

    @Test func `Only the owner can enter the folder and read its files`() throws {
        try fixture.storage.write(Data("x".utf8), to: .test())
        #expect(try fixture.permissions() == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.url.path)
        #expect(Set(names) == Set(try fixture.secretNames() + ["lock", "master.key"]))
        for name in names { #expect(try fixture.permissions(name) == 0o600, "\(name)") }
    }

    @Test func `No file or name in the folder contains a secret, its key, service or group`() throws {
        let words = ["plaintext-of-the-secret", "name-of-the-key", "name-of-the-service", "name-of-the-group"]
        let address = SecretAddress(key: words[1], service: .init(words[2]), group: .init(words[3]))
        for _ in 0..<3 { try fixture.storage.write(Data(words[0].utf8), to: address) }
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.url.path)
        let contents = try names.map { try Data(contentsOf: fixture.url.appendingPathComponent($0)) }
        let everything = names.map { Data($0.utf8) } + contents
        #expect(everything.count > 4)
        for word in words {
            for bytes in everything { #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word)") }
        }
    }

    @Test func `Equal secrets have different files, and each write has different bytes`() throws {
        try fixture.storage.write(Data("same".utf8), to: .test("a"))
        let first = try Data(contentsOf: fixture.onlyFile())
        try fixture.storage.write(Data("same".utf8), to: .test("a"))
        #expect(try Data(contentsOf: fixture.onlyFile()) != first)
        try fixture.storage.write(Data("same".utf8), to: .test("b"))
        let files = try fixture.secretNames().map { try Data(contentsOf: fixture.url.appendingPathComponent($0)) }
        #expect(Set(files).count == 2)
    }

    @Test func `Each folder has its own key and file names`() throws {
        let other = SecretFolderFixture()
        for fixture in [fixture, other] { try fixture.storage.write(Data("x".utf8), to: .test()) }
        #expect(try fixture.secretNames() != other.secretNames())
        let keys = try [fixture, other].map { try Data(contentsOf: $0.url.appendingPathComponent("master.key")) }
        #expect(keys[0] != keys[1])
        #expect(keys[0].count == 65)
    }

    @Test("A key that other users can access is refused", arguments: [0o644, 0o640, 0o606, 0o610])
    func openKey(permissions: Int) throws {
        try fixture.storage.write(Data("x".utf8), to: .test())
        try fixture.setPermissions(permissions, "master.key")
        try expectEverythingThrows(.notPrivate)
        try fixture.setPermissions(0o600, "master.key")
        #expect(try fixture.storage.read(.test()) == Data("x".utf8))
    }

    @Test("A folder that other users can write to is refused", arguments: [0o770, 0o707, 0o722])
    func openFolder(permissions: Int) throws {
        try fixture.storage.write(Data("x".utf8), to: .test())
        try fixture.setPermissions(permissions)
        try expectEverythingThrows(.notPrivate)
    }

    @Test func `A link in place of the key is refused`() throws {
        try fixture.storage.write(Data("x".utf8), to: .test())
        let key = fixture.url.appendingPathComponent("master.key")
        try FileManager.default.moveItem(at: key, to: fixture.parent.file("elsewhere"))
        try FileManager.default.createSymbolicLink(at: key, withDestinationURL: fixture.parent.file("elsewhere"))
        try expectEverythingThrows(.other)
    }

    @Test func `Failures don't leave files open`() throws {
        try fixture.storage.write(Data("x".utf8), to: .test())
        let open = try openDescriptors()
        try fixture.setPermissions(0o777)
        for _ in 0..<100 { try expectEverythingThrows(.notPrivate) }
        try fixture.setPermissions(0o700)
        try fixture.setPermissions(0o644, "master.key")
        for _ in 0..<100 { try expectEverythingThrows(.notPrivate) }
        // Other tests run concurrently and open files as well, but not hundreds.
        #expect(try openDescriptors() < open + 300)
    }

    private func openDescriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count
    }

    private func expectEverythingThrows(_ code: KeychainError.Code) throws {
        let storage = fixture.storage
        #expect(keychainCode { _ = try storage.read(.test()) } == code)
        #expect(keychainCode { try storage.write(Data(), to: .test()) } == code)
        #expect(keychainCode { try storage.remove(.test()) } == code)
    }
}
