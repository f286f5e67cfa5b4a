#if CommandLineTool && Server
@testable import BodegaCommands
import Foundation
import Testing

@Suite("bodega token")
struct TokenCommandTests {

    @Test("leaves no token that could not be shown")
    func notShown() async throws {
        try await withFolder { folder in
            let store = "sqlite:\(folder.path)/tokens.db"
            let failed = await bodega("token", "create", store, "Ada") { $0.output = FullSink() }
            #expect(failed.status == 1)
            #expect(await bodega("token", "list", store).text == "")
            let created = await bodega("token", "create", store, "Ada")
            #expect(created.status == 0)
            #expect(await bodega("token", "list", store).text.contains(#""name":"Ada""#))
        }
    }

    @Test("lists and revokes tokens beside an item that is none")
    func foreignItem() async throws {
        try await withFolder { folder in
            let store = "sqlite:\(folder.path)/tokens.db"
            #expect(await bodega("token", "create", store, "Ada").status == 0)
            let listed = try #require(
                JSONSerialization.jsonObject(
                    with: Data(await bodega("token", "list", store).text.utf8)) as? [String: Any])
            let id = try #require(listed["id"] as? String)
            #expect(await bodega("put", store, "stray", input: Array("{}".utf8)).status == 0)
            let both = await bodega("token", "list", store)
            #expect(both.status == 1 && both.text.contains(id) && both.errors.contains("stray"), "\(both)")
            #expect(!both.errors.contains("DecodingError"))
            #expect(await bodega("token", "revoke", store, id).status == 0)
            #expect(await bodega("token", "list", store).text == "")
            #expect(await bodega("token", "revoke", store, id).status == 1)
        }
    }

    @Test("replaces the grants of a token, and never by those of a command that is not complete")
    func grant() async throws {
        try await withFolder { folder in
            let store = "sqlite:\(folder.path)/tokens.db"
            func listed() async throws -> [String: Any] {
                let text = await bodega("token", "list", store).text
                return try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            }
            #expect(await bodega("token", "create", store, "Ada", "--on", "notes", "--days", "9").status == 0)
            let before = try await listed()
            let id = try #require(before["id"] as? String)
            for wrong in [[], ["--rights", "all"], ["--where", "@.a =="], ["--on", ""]] {
                #expect(await bodega(arguments: ["token", "grant", store, id] + wrong).status == 64, "\(wrong)")
            }
            #expect(await bodega("token", "grant", store, "other", "--on", "a").status == 1)
            #expect(try await NSDictionary(dictionary: listed()) == NSDictionary(dictionary: before))

            let arguments = ["--on", "a", "--on", "b", "--where", "@.n == 1", "--rights", "read"]
            #expect(await bodega(arguments: ["token", "grant", store, id] + arguments).status == 0)
            let after = try await listed()
            for member in ["id", "name", "created", "expires"] {
                #expect(after[member] as? String == before[member] as? String, "\(member)")
            }
            let grants = try #require(after["grants"] as? [[String: Any]])
            #expect(grants.map { $0["collection"] as? String } == ["a", "b"])
            #expect(grants.allSatisfy { $0["where"] as? String == "@.n == 1" && $0["rights"] as? [String] == ["read"] })
        }
    }
}

/// A full disk.
private final class FullSink: ByteSink {
    func write(_ bytes: UnsafeRawBufferPointer) throws { throw ToolError(.failure, "There is no space.") }
}
#endif
