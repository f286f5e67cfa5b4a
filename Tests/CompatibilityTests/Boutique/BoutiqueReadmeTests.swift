import TestSupport
import Testing

@Suite struct BoutiqueReadmeTests {
    let folder = TemporaryFolder()

    @Test func `The README's store prints the documented output`() async throws {
        #expect(try await run("animals") == ["[dog, cat]", "[]", "[dog, cat]", "[red_panda]"])
    }

    @Test func `The README's controller has its saved images after a relaunch`() async throws {
        let images = #"["https://image.redpanda.club/a", "https://image.redpanda.club/c"]"#
        #expect(try await run("save-images") == [images])
        #expect(try await run("print-images") == [images])
    }

    @Test func `A store that top-level code creates has its items after awaiting them`() async throws {
        #expect(try await run("top-level") == ["[]"])
        #expect(try await run("top-level") == ["[dog]"])
    }

    private func run(_ program: String) async throws -> [String] {
        // On Apple platforms the user's folders depend on the latter.
        let environment = ["XDG_DATA_HOME": folder.path, "CFFIXED_USER_HOME": folder.path]
        return try await Child(program, program: "CompatibilityChild", environment: environment).lines()
    }
}
