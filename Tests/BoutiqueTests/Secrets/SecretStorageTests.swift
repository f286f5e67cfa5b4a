import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Tests for all secret storages.
@Suite struct SecretStorageTests {
    private let fixture = SecretFolderFixture()
    /// The keyring of this test, if it uses one.
    private let keyring = Locked<Keyring?>(nil)

    static let kinds: [String] = {
        var kinds = ["memory", "files"]
        #if SecretService
        kinds.append("secret service")
        #endif
        return kinds
    }()

    private func storage(_ kind: String) async throws -> any SecretStorage {
        #if SecretService
        if kind == "secret service" {
            let keyring = try await Keyring()
            self.keyring.withLock { $0 = keyring }
            return keyring.storage()
        }
        #endif
        return kind == "memory" ? MemorySecretStorage() : fixture.storage
    }

    @Test("Reading returns the secret that was written last", arguments: kinds)
    func roundTrip(kind: String) async throws {
        let storage = try await storage(kind)
        for value in [Data("first".utf8), Data(), Data(repeating: 7, count: 3_000_000), Data([0])] {
            try storage.write(value, to: .test())
            #expect(try storage.read(.test()) == value)
        }
    }

    @Test("An absent secret reads as nil and can be removed", arguments: kinds)
    func absence(kind: String) async throws {
        let storage = try await storage(kind)
        try storage.remove(.test())
        #expect(try storage.read(.test()) == nil)
        try storage.write(Data("x".utf8), to: .test("other"))
        #expect(try storage.read(.test()) == nil)
        try storage.remove(.test())
        try storage.write(Data("x".utf8), to: .test())
        try storage.remove(.test())
        #expect(try storage.read(.test()) == nil)
        #expect(try storage.read(.test("other")) == Data("x".utf8))
    }

    @Test("Secrets are distinguished by key, service and group", arguments: kinds)
    func addresses(kind: String) async throws {
        let storage = try await storage(kind)
        let addresses = [
            SecretAddress(key: "a", service: "b"), SecretAddress(key: "b", service: "a"),
            SecretAddress(key: "ab", service: ""), SecretAddress(key: "", service: "ab"),
            SecretAddress(key: "a", service: "b", group: ""), SecretAddress(key: "a", service: "b", group: "c"),
            SecretAddress(key: "é", service: "b"), SecretAddress(key: "../e/f", service: "b"),
            SecretAddress(key: "a\0", service: "b"), SecretAddress(key: String(repeating: "k", count: 5000)),
        ]
        for (index, address) in addresses.enumerated() { try storage.write(Data([UInt8(index)]), to: address) }
        for (index, address) in addresses.enumerated() {
            #expect(try storage.read(address) == Data([UInt8(index)]), "\(address)")
        }
    }

    @Test("Exclusive use can be nested and includes reading, writing and removing", arguments: kinds)
    func exclusively(kind: String) async throws {
        let storage = try await storage(kind)
        try storage.exclusively {
            #expect(try storage.read(.test()) == nil)
            try storage.exclusively { try storage.write(Data("x".utf8), to: .test()) }
            #expect(try storage.read(.test()) == Data("x".utf8))
            try storage.remove(.test())
        }
        #expect(try storage.read(.test()) == nil)
    }

    @Test("Random writes and removals have the same results as on a dictionary", arguments: kinds)
    func model(kind: String) async throws {
        let seed = Seed.current
        print("secrets in \(kind): EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let storage = try await storage(kind)
        var model: [SecretAddress: Data] = [:]
        for _ in 0..<(kind == "secret service" ? 60 : 300) {
            let address = SecretAddress.test("\(Int.random(in: 0..<6, using: &random))")
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                let data = Data(
                    (0..<Int.random(in: 0..<50, using: &random)).map { _ in .random(in: 0...255, using: &random) })
                try storage.write(data, to: address)
                model[address] = data
            case 1:
                try storage.remove(address)
                model[address] = nil
            default:
                break
            }
            #expect(try storage.read(address) == model[address])
        }
    }

    @Test func `In-memory storages don't share secrets or scopes`() {
        let (one, other) = (MemorySecretStorage(), MemorySecretStorage([.test(): Data([1])]))
        #expect(one.read(.test()) == nil)
        #expect(other.read(.test()) == Data([1]))
        #expect(one.scope != other.scope)
    }
}
