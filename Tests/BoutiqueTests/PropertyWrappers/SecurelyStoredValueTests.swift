import Boutique
import Foundation
import Observation
import TestSupport
import Testing

private struct Login: Codable, Sendable, Equatable {
    var name: String
    var attempts = 0
}

private enum Key: String {
    case token
}

/// The storage of the types below. Each test uses different keys.
private let shared = MemorySecretStorage()

private struct Account {
    @SecurelyStoredValue<String>(key: "account.token", storage: shared) var token
    @SecurelyStoredValue(key: "account.login", service: "mail", group: "apps", storage: shared) var login: Login?
    @SecurelyStoredValue<Bool>(key: Key.token, storage: shared) var isTrusted
}

private final class Session: ObservableObject {
    let objectWillChange = ObservableObjectPublisher()
    @SecurelyStoredValue<String>(key: "session.token", storage: shared) var token
    @SecurelyStoredValue(key: "session.pin", storage: shared) var pin: Int?
}

/// `@SecurelyStoredValue` with an in-memory storage.
@Suite struct SecurelyStoredValueTests {
    private let storage = FaultySecretStorage()

    private func value<Item: StorableItem>(_ type: Item.Type = Item.self, _ key: String = "key") -> SecurelyStoredValue<
        Item
    > {
        SecurelyStoredValue(key: key, storage: storage)
    }

    @Test func `A property is nil, then the value that was set, then nil again`() throws {
        let account = Account()
        #expect(account.token == nil)
        try account.$token.set("abc")
        #expect(account.token == "abc")
        try account.$token.set("def")
        #expect(account.token == "def")
        #expect(try account.$token.fetch() == "def")
        try account.$token.remove()
        #expect(account.token == nil)
        #expect(try account.$token.fetch() == nil)
        try account.$token.remove()

        try account.$login.set(Login(name: "Ann"))
        #expect(account.login == Login(name: "Ann"))
        #expect(shared.read(SecretAddress(key: "account.login", service: "mail", group: "apps")) != nil)
        try account.$isTrusted.set(true)
        #expect(shared.read(SecretAddress(key: "token")) == Data(#"{"value":true}"#.utf8))
    }

    @Test func `Setting nil, or changing to nil, removes the secret`() throws {
        let token = value(String.self)
        try token.set("abc")
        try token.set(nil)
        #expect(try storage.read(token.address) == nil)
        try token.set("abc")
        try token.modify { $0 = nil }
        #expect(try storage.read(token.address) == nil)
    }

    @Test func `The helpers start from an empty value, then from the stored one`() throws {
        let words = value([String].self, "words")
        try words.replace("a", with: "b")
        #expect(words.wrappedValue == nil)
        try words.append("a")
        try words.append("c")
        try words.replace("a", with: "b")
        #expect(words.wrappedValue == ["b", "c"])
        try words.togglePresence("b")
        #expect(words.wrappedValue == ["c"])

        let table = value([String: Int].self, "table")
        try table.update(key: "a", value: 1)
        try table.update(key: "b", value: 2)
        try table.update(key: "a", value: nil)
        #expect(table.wrappedValue == ["b": 2])
    }

    @Test func `Helpers that need a value throw if there is none, as in Boutique`() throws {
        let flag = value(Bool.self, "flag")
        #expect(keychainCode { try flag.toggle() } == .notFound)
        #expect(flag.wrappedValue == nil)
        #expect(try storage.read(flag.address) == nil)
        try flag.set(false)
        try flag.toggle()
        #expect(flag.wrappedValue == true)
        try flag.toggle()
        #expect(flag.wrappedValue == false)

        let login = value(Login.self, "login")
        let error = #expect(throws: KeychainError.self) { try login.set(\.attempts, to: 3) }
        guard case .couldNotAccessKeychain = error else {
            Issue.record("Unexpected error: \(String(describing: error))")
            return
        }
        #expect(error?.secret == login.address)
        #expect(login.wrappedValue == nil)
        try login.set(Login(name: "Ann"))
        try login.set(\.attempts, to: 3)
        #expect(login.wrappedValue == Login(name: "Ann", attempts: 3))
    }

    @Test func `Wrappers of one secret have the same value immediately, and those of another service don't`() throws {
        let (one, other) = (value(String.self), value(String.self))
        let foreign = SecurelyStoredValue<String>(key: "key", service: "other", storage: storage)
        #expect(other.wrappedValue == nil)
        try one.set("abc")
        #expect(other.wrappedValue == "abc")
        #expect(foreign.wrappedValue == nil)
        try other.remove()
        #expect(one.wrappedValue == nil)
    }

    @Test func `Subscribers of each wrapper of a secret receive the current value and each change`() throws {
        let (one, other) = (value(Int.self), value(Int.self))
        try one.set(1)
        let seen = Locked<[Int?]>([])
        let subscription = other.publisher.sink { value in seen.withLock { $0.append(value) } }
        try one.set(2)
        try other.set(3)
        try one.remove()
        #expect(seen.withLock { $0 } == [1, 2, 3, nil])
        subscription.cancel()
    }

    @Test func `Streams emit the current value, then each change`() async throws {
        let (one, other) = (value(Int.self), value(Int.self))
        try one.set(1)
        var stream = other.values.makeAsyncIterator()
        try one.set(2)
        try one.remove()
        var seen: [Int?] = []
        for _ in 0..<3 { seen.append(try #require(await stream.next())) }
        #expect(seen == [1, 2, nil])
    }

    @Test func `The object of a property publishes each change`() throws {
        let session = Session()
        let seen = Locked(0)
        let subscription = session.objectWillChange.sink { seen.withLock { $0 += 1 } }
        #expect(session.token == nil)
        #expect(session.pin == nil)
        try session.$token.set("abc")
        #expect(seen.withLock { $0 } == 1)
        try session.$pin.set(1)
        #expect(seen.withLock { $0 } == 2)
        try SecurelyStoredValue<String>(key: "session.token", storage: shared).set("by another wrapper")
        #expect(seen.withLock { $0 } == 3)
        #expect(session.token == "by another wrapper")
        subscription.cancel()
    }

    @Test func `The Observation framework tracks reads of the value, whichever wrapper changes it`() throws {
        let (one, other) = (value(Int.self), value(Int.self))
        let unrelated = value(Int.self, "unrelated")
        let fired = Locked(0)
        withObservationTracking {
            _ = one.wrappedValue
        } onChange: {
            fired.withLock { $0 += 1 }
        }
        try unrelated.set(1)
        #expect(fired.withLock { $0 } == 0)
        try other.set(1)
        #expect(fired.withLock { $0 } == 1)
    }

    @Test func `Concurrent changes by several threads and wrappers lose no change`() async throws {
        let storage = storage
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let count = SecurelyStoredValue<Int>(key: "key", storage: storage)
                    for _ in 0..<100 { try count.modify { $0 = ($0 ?? 0) + 1 } }
                }
            }
            try await group.waitForAll()
        }
        #expect(value(Int.self).wrappedValue == 800)
    }
}
