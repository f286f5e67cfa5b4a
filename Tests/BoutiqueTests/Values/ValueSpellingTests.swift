import Bodega
import Foundation
import TestSupport
import Testing

@testable import Boutique

/// Keys that Swift's strings take for equal, and links to the files of values.
@Suite struct ValueSpellingTests {
    private let keys = ["caf\u{E9}", "cafe\u{301}"]

    @Test func `Values under two spellings of a key are two, also when another process has read them`() throws {
        let place = ValuePlace(isWatched: false)
        let (first, second) = (place.value(keys[0], 0), place.value(keys[1], "none"))
        first.set(1)
        second.set("two")
        #expect(first.wrappedValue == 1 && first.lastError == nil)
        #expect(second.wrappedValue == "two" && second.lastError == nil)
        let other = place.other()
        #expect(StoredValue(key: keys[0], default: 0, in: other).wrappedValue == 1)
        #expect(StoredValue(key: keys[1], default: "none", in: other).wrappedValue == "two")
        // The file is replaced.
        for number in 0..<5_000 { first.set(number) }
        try place.file.flush()
        let again = place.other()
        #expect(StoredValue(key: keys[0], default: 0, in: again).wrappedValue == 4_999)
        #expect(StoredValue(key: keys[1], default: "none", in: again).wrappedValue == "two")
    }

    @Test func `Only the observer of the spelling that was changed is called`() {
        let place = ValuePlace(isWatched: false)
        let observers = place.file.observers
        let calls = Locked<[String]>([])
        let observations = keys.map { key in
            observers.add(key) { _ in calls.withLock { $0.append(Array(key.utf8).description) } }
        }
        observers.changing(keys[1]) { begin in begin() }
        #expect(calls.withLock { $0 } == [Array(keys[1].utf8).description])
        withExtendedLifetime(observations) {}
    }

    @Test func `Secrets under two spellings of a key, service or group are several`() throws {
        let folder = TemporaryFolder()
        let storages: [any SecretStorage] = [
            MemorySecretStorage(), EncryptedFileSecretStorage(directory: folder.directory),
        ]
        for storage in storages {
            let secrets = keys.flatMap { key in
                keys.map { SecurelyStoredValue<String>(key: key, service: KeychainService($0), storage: storage) }
            }
            for (number, secret) in secrets.enumerated() { try secret.set("\(number)") }
            #expect(secrets.map(\.wrappedValue) == ["0", "1", "2", "3"], "\(type(of: storage))")
        }
        #expect(Set(keys.map { KeychainGroup($0) }).count == 2)
    }

    @Test func `A link to a file of values stays one when the file is replaced`() throws {
        let folder = TemporaryFolder()
        let (target, link) = (folder.file("target.values"), folder.file("link.values"))
        try Data().write(to: target)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        let file = DefaultsFile(url: link, isWatched: false)
        let value = StoredValue(key: "value", default: 0, in: file)
        for number in 0..<5_000 { value.set(number) }
        try file.flush()
        value.set(-7)
        #expect(
            StoredValue(key: "value", default: 0, in: DefaultsFile(url: target, isWatched: false)).wrappedValue == -7)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == target.path)
        #expect(DefaultsFile.shared(link) === DefaultsFile.shared(target))
    }
}
