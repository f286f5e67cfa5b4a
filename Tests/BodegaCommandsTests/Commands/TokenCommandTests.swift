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
}

/// A full disk.
private final class FullSink: ByteSink {
    func write(_ bytes: UnsafeRawBufferPointer) throws { throw ToolError(.failure, "There is no space.") }
}
#endif
