import Boutique
import Foundation
import TestSupport
import Testing

private enum Plan: String, Codable {
    case free, paid
}

/// `@SecurelyStoredValue` with failing storages and damaged secrets.
@Suite struct SecurelyStoredValueFailureTests {
    private let storage = FaultySecretStorage()

    private func value<Item: StorableItem>(_ type: Item.Type = Item.self) -> SecurelyStoredValue<Item> {
        SecurelyStoredValue(key: "key", storage: storage)
    }

    @Test func `Defect 13: a failed set throws, and changes and publishes nothing`() throws {
        let token = value(String.self)
        try token.set("old")
        let seen = Locked<[String?]>([])
        let subscription = token.publisher.sink { value in seen.withLock { $0.append(value) } }
        storage.failWriting(.accessDenied)
        #expect(keychainCode { try token.set("new") } == .accessDenied)
        #expect(keychainCode { try token.modify { $0 = "new" } } == .accessDenied)
        #expect(token.wrappedValue == "old")
        #expect(try storage.read(token.address) == Data(#"{"value":"old"}"#.utf8))
        #expect(token.lastError?.code == .accessDenied)
        #expect(seen.withLock { $0 } == ["old"])
        storage.failWriting(nil)
        try token.set("new")
        #expect(seen.withLock { $0 } == ["old", "new"])
        #expect(token.lastError == nil)
        subscription.cancel()
    }

    @Test func `Defect 13: a failed removal throws and leaves the value unchanged`() throws {
        let token = value(String.self)
        try token.set("old")
        storage.failWriting(.locked)
        #expect(keychainCode { try token.remove() } == .locked)
        #expect(keychainCode { try token.set(nil) } == .locked)
        #expect(token.wrappedValue == "old")
        storage.failWriting(nil)
        #expect(try token.fetch() == "old")
    }

    @Test func `Setting a value that cannot be encoded throws and leaves the previous value unchanged`() throws {
        let number = value(Double.self)
        try number.set(1)
        let error = #expect(throws: KeychainError.self) { try number.set(.nan) }
        #expect(error?.code == .encodingFailed)
        #expect(error?.secret == number.address)
        #expect(number.wrappedValue == 1)
        #expect(try number.fetch() == 1)
    }

    @Test func `No encoding or decoding error contains the secret`() throws {
        let number = value(Double.self)
        let error = #expect(throws: KeychainError.self) { try number.set(-.infinity) }
        #expect("\(try #require(error))".contains("inf") == false)
        // Foundation's error contains the raw value without a case.
        try storage.write(Data(#"{"value":"plaintext"}"#.utf8), to: number.address)
        let plan = value(Plan.self)
        let other = #expect(throws: KeychainError.self) { try plan.fetch() }
        #expect(other?.code == .undecodable)
        #expect("\(try #require(other))".contains("plaintext") == false)
        #expect("\(try #require(plan.lastError))".contains("plaintext") == false)
    }

    @Test func `A locked secret is distinguished from an absent one, and is not replaced`() throws {
        let token = value(String.self)
        try storage.write(Data(#"{"value":"old"}"#.utf8), to: token.address)
        storage.failReading(.locked)
        #expect(token.wrappedValue == nil)
        #expect(keychainCode { _ = try token.fetch() } == .locked)
        #expect(keychainCode { try token.set("new") } == .locked)
        #expect(token.lastError?.code == .locked)
        storage.failReading(nil)
        #expect(token.wrappedValue == "old")
    }

    @Test func `A secret of another type reads as nil, throws when fetched, and is kept aside when set`() throws {
        let old = Data(#"{"value":"text"}"#.utf8)
        let number = value(Int.self)
        try storage.write(old, to: number.address)
        #expect(number.wrappedValue == nil)
        #expect(keychainCode { _ = try number.fetch() } == .undecodable)
        #expect(keychainCode { try number.modify { $0 = 2 } } == .undecodable)
        #expect(try storage.read(number.address) == old)
        #expect(try number.undecodableData() == [old])
        try number.set(1)
        #expect(try number.fetch() == 1)
        #expect(try number.undecodableData() == [old])
        #expect(try storage.read(SecretAddress(key: "key.undecodable")) == old)

        storage.failWriting(.locked)
        #expect(keychainCode { try number.removeUndecodableData() } == .locked)
        storage.failWriting(nil)
        try number.removeUndecodableData()
        #expect(try storage.read(SecretAddress(key: "key.undecodable")) == nil)
        #expect(try number.fetch() == 1)
    }

    @Test func `If the undecodable secret cannot be kept aside, it is not replaced`() throws {
        let number = value(Int.self)
        try storage.write(Data("?".utf8), to: number.address)
        storage.failWriting(.storageFull)
        #expect(keychainCode { try number.set(1) } == .storageFull)
        storage.failWriting(nil)
        #expect(try storage.read(number.address) == Data("?".utf8))
    }

    @Test func `Removing an undecodable secret does not keep it aside`() throws {
        let number = value(Int.self)
        try storage.write(Data("?".utf8), to: number.address)
        try number.remove()
        #expect(try number.fetch() == nil)
        #expect(try number.undecodableData() == [])
    }

    @Test func `A damaged file reads as nil, throws when fetched, and is kept when the value is set`() throws {
        let fixture = SecretFolderFixture()
        let token = SecurelyStoredValue<String>(key: "token", storage: fixture.storage)
        try token.set("old")
        #expect(token.wrappedValue == "old")
        try fixture.overwrite(fixture.onlyFile(), with: Data("damaged".utf8))
        #expect(token.wrappedValue == nil)
        let error = #expect(throws: KeychainError.self) { try token.fetch() }
        #expect(error?.code == .undecodable)
        #expect(error?.file == (try fixture.onlyFile()))
        #expect(keychainCode { try token.modify { $0 = "new" } } == .undecodable)
        try token.set("new")
        #expect(token.wrappedValue == "new")
        #expect(token.lastError == nil)
        #expect(try fixture.secretNames().count == 2)
        #expect(try SecurelyStoredValue<String>(key: "token", storage: fixture.storage).fetch() == "new")
    }

    @Test func `A change by another process is visible at the next read`() async throws {
        let fixture = SecretFolderFixture()
        let token = SecurelyStoredValue<String>(key: "token", service: "tests", storage: fixture.storage)
        #expect(token.wrappedValue == nil)
        #expect(await (try Child("set-secrets", fixture.url.path, "token", "x", "1")).lines().last == "done")
        // The other process has set bytes that cannot be decoded, so the error shows that they were read.
        #expect(keychainCode { _ = try token.fetch() } == .undecodable)
        #expect(token.wrappedValue == nil)
    }
}
