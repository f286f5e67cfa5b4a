#if SecretService
import Bodega
import Foundation
import TestSupport
import Testing

@testable import Boutique

/// A keyring that several processes and threads use.
@Suite struct SecretServiceProcessTests {

    private func child(_ arguments: String..., in keyring: Keyring) throws -> Child {
        try Child(arguments, environment: keyring.environment)
    }

    @Test func `Another process reads the secrets of this one, and vice versa`() async throws {
        let keyring = try await Keyring()
        let storage = keyring.storage()
        #expect(await (try child("say-secret", "secret-service", "token", in: keyring)).lines() == ["none"])
        try storage.write(Data("from here".utf8), to: .test())
        #expect(await (try child("say-secret", "secret-service", "token", in: keyring)).lines() == ["from here"])
        let writer = try child("set-secrets", "secret-service", "token", "there", "2", in: keyring)
        #expect(await writer.lines().last == "done")
        #expect(try storage.read(.test()) == Data(String(repeating: "there-1;", count: 40).utf8))
        let nowhere = try Child(
            ["say-secret", "secret-service", "token"],
            environment: ["DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": ""])
        #expect(await nowhere.lines() == ["error unavailable"])
    }

    @Test func `Exclusive changes by several processes and threads are all counted`() async throws {
        let keyring = try await Keyring()
        let children = try (0..<2).map { _ in
            try child("count-in-secret", "secret-service", "count", "15", in: keyring)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<10 {
                        let storage = keyring.storage()
                        try storage.exclusively {
                            let count = try storage.read(.test("count")).flatMap {
                                Int(String(decoding: $0, as: UTF8.self))
                            }
                            try storage.write(Data("\((count ?? 0) + 1)".utf8), to: .test("count"))
                        }
                    }
                }
            }
            for child in children { group.addTask { #expect(await child.lines() == ["done"]) } }
            try await group.waitForAll()
        }
        #expect(try keyring.storage().read(.test("count")) == Data("50".utf8))
    }

    @Test func `Readers don't wait for another process that has exclusive access, and writers only for a time`()
        async throws
    {
        let keyring = try await Keyring()
        try keyring.storage().write(secretBytes, to: .test())
        let holder = try child("hold-secrets", "secret-service", in: keyring)
        #expect(await holder.nextLine() == "held")
        #expect(try keyring.storage().read(.test()) == secretBytes)
        let storage = keyring.impatientStorage
        #expect(keychainCode { try storage.write(Data(), to: .test()) } == .locked)
        #expect(keychainCode { try storage.remove(.test()) } == .locked)
        holder.kill()
        #expect(await holder.lines().isEmpty)
        try keyring.storage().remove(.test())
        #expect(try keyring.storage().read(.test()) == nil)
    }

    @Test func `Threads that write one secret concurrently leave one complete value, and no second item`()
        async throws
    {
        let keyring = try await Keyring()
        let storage = keyring.storage()
        let values = (0..<6).map { Data(repeating: UInt8($0), count: 10_000) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for value in values {
                group.addTask {
                    try storage.write(value, to: .test())
                    let found = try #require(try storage.read(.test()))
                    #expect(values.contains(found))
                }
            }
            try await group.waitForAll()
        }
        try storage.remove(.test())
        #expect(try storage.read(.test()) == nil)
    }

    @Test func `A secret value works on a keyring, and keeps its last value while the keyring is locked`()
        async throws
    {
        let keyring = try await Keyring()
        let words = SecurelyStoredValue<[String]>(key: "words", service: "tests", storage: keyring.storage())
        let same = SecurelyStoredValue<[String]>(key: "words", service: "tests", storage: keyring.storage())
        #expect(words.wrappedValue == nil)
        try words.set(["one"])
        try same.append("two")
        #expect(words.wrappedValue == ["one", "two"])
        try await keyring.lock()
        #expect(words.wrappedValue == ["one", "two"])
        #expect(keychainCode { _ = try words.fetch() } == .locked)
        #expect(keychainCode { try words.append("three") } == .locked)
        try await keyring.endService()
        try await keyring.startService()
        #expect(try words.fetch() == ["one", "two"])
        try words.remove()
        #expect(try same.fetch() == nil)
    }
}
#endif
