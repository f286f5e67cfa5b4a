import Bodega
@testable import Boutique
import Foundation
import Testing

/// The order of the keychain calls and the handling of their status codes, with a fake keychain.
@Suite struct KeychainItemsTests {

    @Test func `An existing secret is updated in place`() throws {
        let items = FakeKeychain([.test(): Data("old".utf8)])
        try items.write(Data("new".utf8), to: .test())
        #expect(try items.read(.test()) == Data("new".utf8))
        #expect(items.calls == ["update", "copy"])
    }

    @Test func `An absent secret is added`() throws {
        let items = FakeKeychain()
        #expect(try items.read(.test()) == nil)
        try items.write(Data("new".utf8), to: .test())
        #expect(try items.read(.test()) == Data("new".utf8))
        #expect(items.calls == ["copy", "update", "add", "copy"])
    }

    @Test func `Defect 13: a duplicate is updated, not treated as success`() throws {
        let items = FakeKeychain()
        items.beforeAdding = [{ $0[.test()] = Data("of another process".utf8) }]
        try items.write(Data("new".utf8), to: .test())
        #expect(try items.read(.test()) == Data("new".utf8))
        #expect(items.calls == ["update", "add", "update", "copy"])
    }

    @Test func `An item that appears and disappears between the calls is finally written`() throws {
        let items = FakeKeychain()
        items.beforeAdding = [{ $0[.test()] = Data("of another process".utf8) }]
        items.beforeUpdating = [{ _ in }, { $0[.test()] = nil }]
        try items.write(Data("new".utf8), to: .test())
        #expect(try items.read(.test()) == Data("new".utf8))
        #expect(items.calls == ["update", "add", "update", "add", "copy"])
    }

    @Test func `Defect 13: a failed removal throws, and a removal of an absent secret does not`() throws {
        let items = FakeKeychain()
        try items.remove(.test())
        try items.write(Data("x".utf8), to: .test())
        items.status = KeychainStatus.interactionNotAllowed
        #expect(keychainCode { try items.remove(.test()) } == .locked)
        items.status = nil
        #expect(try items.read(.test()) == Data("x".utf8))
        try items.remove(.test())
        #expect(try items.read(.test()) == nil)
    }

    @Test(
        "Every status except success throws an error with its code",
        arguments: [
            (-25308, .locked), (-25291, .locked), (-25315, .locked), (-26275, .undecodable), (-25293, .accessDenied),
            (-128, .accessDenied), (-61, .accessDenied), (-34018, .missingEntitlement), (-25292, .readOnly),
            (-34, .storageFull), (-25243, .accessDenied), (-67700, .accessDenied), (-50, .other), (-1, .other),
            (1, .other),
        ] as [(Int32, KeychainError.Code)])
    func statuses(status: Int32, code: KeychainError.Code) throws {
        let items = FakeKeychain([.test(): Data("x".utf8)])
        items.status = status
        for call in [
            { _ = try items.read(.test()) }, { try items.write(Data(), to: .test()) }, { try items.remove(.test()) },
        ] as [() throws -> Void] {
            let error = #expect(throws: KeychainError.self, performing: call)
            #expect(error?.code == code)
            #expect(error?.status == status)
            // This case has only a status.
            if case .errorWithStatus(let same)? = error {
                #expect(same == status)
            } else {
                #expect(error?.secret == .test())
            }
        }
    }

    @Test func `An item without bytes is undecodable`() {
        let items = FakeKeychain([.test(): Data("x".utf8)])
        items.status = 0
        #expect(keychainCode { _ = try items.read(.test()) } == .undecodable)
    }
}

/// An in-memory keychain that behaves as Apple documents it.
private final class FakeKeychain: KeychainItems {
    private struct State {
        var items: [SecretAddress: Data]
        var calls: [String] = []
        var status: Int32?
        var beforeAdding: [@Sendable (inout [SecretAddress: Data]) -> Void] = []
        var beforeUpdating: [@Sendable (inout [SecretAddress: Data]) -> Void] = []
    }

    private let state: Locked<State>

    init(_ items: [SecretAddress: Data] = [:]) {
        state = Locked(State(items: items))
    }

    var calls: [String] { state.withLock { $0.calls } }

    /// The status that every call returns without any other effect.
    var status: Int32? {
        get { state.withLock { $0.status } }
        set { state.withLock { $0.status = newValue } }
    }

    /// Changes by another process right before the next calls.
    var beforeAdding: [@Sendable (inout [SecretAddress: Data]) -> Void] {
        get { [] }
        set { state.withLock { $0.beforeAdding = newValue } }
    }

    var beforeUpdating: [@Sendable (inout [SecretAddress: Data]) -> Void] {
        get { [] }
        set { state.withLock { $0.beforeUpdating = newValue } }
    }

    private func call(_ name: String, _ body: (inout State) -> Int32) -> Int32 {
        state.withLock { state in
            state.calls.append(name)
            return state.status ?? body(&state)
        }
    }

    func copy(_ secret: SecretAddress) -> (status: Int32, data: Data?) {
        var data: Data?
        let status = call("copy") { state in
            data = state.items[secret]
            return data == nil ? KeychainStatus.itemNotFound : 0
        }
        return (status, data)
    }

    func update(_ secret: SecretAddress, _ data: Data) -> Int32 {
        call("update") { state in
            if !state.beforeUpdating.isEmpty { state.beforeUpdating.removeFirst()(&state.items) }
            guard state.items[secret] != nil else { return KeychainStatus.itemNotFound }
            state.items[secret] = data
            return 0
        }
    }

    func add(_ secret: SecretAddress, _ data: Data) -> Int32 {
        call("add") { state in
            if !state.beforeAdding.isEmpty { state.beforeAdding.removeFirst()(&state.items) }
            guard state.items[secret] == nil else { return KeychainStatus.duplicateItem }
            state.items[secret] = data
            return 0
        }
    }

    func delete(_ secret: SecretAddress) -> Int32 {
        call("delete") { state in
            state.items.removeValue(forKey: secret) == nil ? KeychainStatus.itemNotFound : 0
        }
    }
}
