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
}

/// A full disk.
private final class FullSink: ByteSink {
    func write(_ bytes: UnsafeRawBufferPointer) throws { throw ToolError(.failure, "There is no space.") }
}
#endif
