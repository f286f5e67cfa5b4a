import Boutique
import Foundation
import Testing

/// Values of both versions, with calls that compile only if the helpers have Boutique's signatures.
@MainActor
@Suite struct ValueTests {
    @Test func `replace returns whether an element was replaced`() throws {
        let names = SecurelyStoredValue<[String]>(key: "names", storage: MemorySecretStorage())
        let before: Bool = try names.replace("a", with: "b")
        #expect(!before)
        try names.set(["a"])
        let after: Bool = try names.replace("a", with: "b")
        #expect(after)
        try names.replace("b", with: "c")
        #expect(names.wrappedValue == ["c"])
    }
}

/// Code that is only compiled, because it would change the user defaults of the user who runs the tests.
private final class Names {
    @StoredValue(key: "names") var names = ["a"]
    @StoredValue(key: "text") var text = ""
    @StoredValue(key: "numbers") var numbers = ContiguousArray<Int>()
    @StoredValue(key: "data") var data = Data()
    @StoredValue(key: "maybe") var maybe: ContiguousArray<Int>?
    @AsyncStoredValue(storage: MemoryStorageEngine()) var asyncText = ""

    func use() async throws -> Bool {
        $names.replace("a", with: "b")
        $text.append("c")
        $numbers.append(1)
        $data.append(7)
        $maybe.append(2)
        try await $asyncText.append("d")
        if $numbers.replace(1, with: 2) { return $text.replace("c", with: "d") }
        return $names.replace("b", with: "c")
    }
}
