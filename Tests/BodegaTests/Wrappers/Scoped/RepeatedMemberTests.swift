import Bodega
import Foundation
import Testing

/// Items in whose JSON a member is there twice, of which other readers take another one.
@Suite struct RepeatedMemberTests {
    private static let items = [
        #"{"owner":"ada","owner":"bob"}"#, #"{"owner":"bob","owner":"ada"}"#, #"{"owner":"ada","owner":"ada"}"#,
        #"{"own\u0065r":"ada","owner":"bob"}"#, #"{"of":{"owner":"ada","owner":"bob"}}"#,
        #"{"of":{"owner":"ada"},"of":{"owner":"bob"}}"#,
    ]

    @Test(arguments: ["ada", "bob"])
    func `They belong to no client whose filter is about the member`(_ owner: String) async throws {
        let base = MemoryStorageEngine()
        for (number, item) in Self.items.enumerated() {
            try await base.write(Data(item.utf8), key: CacheKey(verbatim: "\(number)"))
        }
        let own = Data(#"{"owner":"\#(owner)","other":1,"other":2,"of":{"owner":"\#(owner)"}}"#.utf8)
        try await base.write(own, key: CacheKey(verbatim: "own"))
        let scopes = [
            StorageScope(where: "owner", equals: owner), try StorageScope(matching: #"@.owner == "\#(owner)""#),
            StorageScope(where: "of.owner", equals: owner), try StorageScope(matching: "@.of.owner"),
            try StorageScope(matching: #"match(@.owner, "\#(owner)") || length(@.owner) == 9"#),
        ]
        for scope in scopes {
            let engine = base.scoped(to: scope)
            #expect(try await engine.fetchAll().map(\.key) == [CacheKey(verbatim: "own")])
            for item in Self.items where scope.contains(own) {
                let error = await #expect(throws: StorageError.self) {
                    try await engine.write(Data(item.utf8), key: CacheKey(verbatim: "new"))
                }
                #expect(error?.code == .permissionDenied, "\(item)")
            }
        }
    }
}
