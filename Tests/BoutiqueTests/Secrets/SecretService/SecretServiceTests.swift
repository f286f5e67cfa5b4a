#if SecretService
import Bodega
import Foundation
import TestSupport
import Testing

@testable import Boutique

/// Secrets in a real GNOME Keyring.
@Suite struct SecretServiceTests {
    private let values = [
        Data(), Data([0]), Data([0, 0, 1, 0]), Data((0...255).map(UInt8.init)), Data(repeating: 10, count: 16),
        Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }),
    ]

    @Test func `Secrets of any bytes, replaced ones and removals outlive a restart of the service`() async throws {
        let keyring = try await Keyring()
        let storage = keyring.storage()
        for (number, value) in values.enumerated() {
            try storage.write(Data("old".utf8), to: .test("\(number)"))
            try storage.write(value, to: .test("\(number)"))
        }
        try storage.write(secretBytes, to: .test("removed"))
        try storage.remove(.test("removed"))
        try await keyring.endService()
        try await keyring.startService()
        for (number, value) in values.enumerated() {
            #expect(try storage.read(.test("\(number)")) == value, "value \(number)")
        }
        #expect(try storage.read(.test("removed")) == nil)
    }

    @Test func `A locked keyring is reported without waiting for the user, and nothing changes`() async throws {
        let keyring = try await Keyring()
        let storage = keyring.storage()
        try storage.write(Data("old".utf8), to: .test())
        try await keyring.lock()
        #expect(try codes(storage) == [.locked, .locked, .locked])
        #expect(keychainCode { _ = try storage.read(.test("absent")) } == .locked)
        try await keyring.endService()
        try await keyring.startService(isUnlocked: false)
        #expect(try codes(storage) == [.locked, .locked, .locked])
        try await keyring.endService()
        try await keyring.startService()
        #expect(try storage.read(.test()) == Data("old".utf8))
    }

    @Test func `A service without a default collection is reported`() async throws {
        let keyring = try await Keyring(hasService: false)
        try await keyring.startService(isUnlocked: false)
        #expect(try codes(keyring.storage()) == [.unavailable, .unavailable, .unavailable])
    }

    @Test func `A missing bus or service is reported, and used once it is there`() async throws {
        let keyring = try await Keyring(hasService: false)
        let storage = keyring.storage()
        #expect(try codes(storage) == [.unavailable, .unavailable, .unavailable])
        try await keyring.startService()
        #expect(try codes(storage) == [nil, nil, nil])
        try await keyring.endService()
        #expect(try codes(storage) == [.unavailable, .unavailable, .unavailable])
        try await keyring.endBus()
        #expect(try codes(storage) == [.unavailable, .unavailable, .unavailable])
        let nowhere = SecretServiceStorage(
            address: nil, lockFolder: FileManager.Directory(url: keyring.dataFolder), timeLimit: .seconds(60))
        #expect(try codes(nowhere) == [.unavailable, .unavailable, .unavailable])
    }

    @Test func `A service that is stopped is reported after the time limit, and never receives the change`()
        async throws
    {
        let keyring = try await Keyring()
        let storage = keyring.storage()
        try storage.write(Data("old".utf8), to: .test())
        keyring.signalService(.stop)
        #expect(try codes(keyring.impatientStorage) == [.timedOut, .timedOut, .timedOut])
        keyring.signalService(.resume)
        #expect(try storage.read(.test()) == Data("old".utf8))
        keyring.signalBus(.stop)
        #expect(try codes(keyring.impatientStorage) == [.timedOut, .timedOut, .timedOut])
        keyring.signalBus(.resume)
        #expect(try storage.read(.test()) == Data("old".utf8))
    }

    @Test(
        "A refusal is reported as denied access",
        arguments: [("Service", "OpenSession"), ("Service", "ReadAlias"), ("Collection", "SearchItems")])
    func denied(interface: String, method: String) async throws {
        let rule = #"<deny send_interface="org.freedesktop.Secret.\#(interface)" send_member="\#(method)"/>"#
        let keyring = try await Keyring(policy: rule)
        let write: KeychainError.Code? = method == "SearchItems" ? nil : .accessDenied
        #expect(try codes(keyring.storage()) == [.accessDenied, write, .accessDenied])
    }

    @Test func `Addresses with the same characters in another normalization are different secrets`() async throws {
        let keyring = try await Keyring()
        let storage = keyring.storage()
        let texts = ["\u{E9}", "e\u{301}", "%", "%25", "\0", "%00", "\u{FFFE}", "\u{1F600}"]
        let addresses = texts.flatMap { text in
            [
                SecretAddress(key: text, service: "s"), SecretAddress(key: "k", service: KeychainService(text)),
                SecretAddress(key: "k", service: "s", group: KeychainGroup(text)),
            ]
        }
        for (number, address) in addresses.enumerated() { try storage.write(Data("\(number)".utf8), to: address) }
        for (number, address) in addresses.enumerated() {
            #expect(try storage.read(address) == Data("\(number)".utf8), "\(address)")
        }
    }

    @Test func `The items of other programs are not read, replaced or removed`() async throws {
        let keyring = try await Keyring()
        let storage = keyring.storage()
        let others = [
            ["service", "tests", "key", "token"],
            ["service", "tests", "key", "token", "xdg:schema", "org.example.Password"],
            ["service", "tests", "key", "other", "xdg:schema", "emporium.Secret"],
        ].map { SecretItem(attributes: $0, label: "other") }
        let connection = try SecretServiceConnection(keyring.address, CallCancellation())
        let collection = try connection.defaultCollection()
        for item in others { _ = try connection.write(collection, Data("other".utf8), to: item) }
        #expect(try storage.read(.test()) == nil)
        try storage.write(secretBytes, to: .test())
        #expect(try storage.read(.test()) == secretBytes)
        try storage.remove(.test())
        #expect(try storage.read(.test()) == nil)
        for item in others {
            // The first one has fewer attributes, so it finds the second one, too.
            let paths = try connection.search(collection, item)
            #expect(!paths.isEmpty)
            for path in paths { #expect(try connection.read(path) == Data("other".utf8)) }
        }
    }
}
#endif
