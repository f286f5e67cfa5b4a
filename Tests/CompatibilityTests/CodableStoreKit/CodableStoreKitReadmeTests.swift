import TestSupport
import Testing

/// The README's snippets that use the user's folders. Each test runs in its own folder.
@Suite struct CodableStoreKitReadmeTests {
    let folder = TemporaryFolder()

    @Test func `What the README does first, and what is there after a relaunch`() async throws {
        #expect(try await run("use") == ["false", "saved Mr. Default", "Robot true"])
        #expect(try await run("find") == [#"["Robot"]"#, "User.Type"])
    }

    @Test func `The engines of the README`() async throws {
        #expect(try await run("engines") == ["false", "1 true 42", "false"])
        #expect(try await run("find").first == #"["Robot"]"#)
    }

    @Test func `The container of the README is apart from the default one`() async throws {
        #expect(try await run("containers") == ["true false", "Default"])
    }

    @Test func `A program chooses the container that is used where none is named`() async throws {
        #expect(try await run("default") == ["false Other", "true"])
    }

    @Test func `The conveniences of the README`() async throws {
        #expect(try await run("conveniences") == ["42", "42", "false false true", #"["42"]"#, "0"])
    }

    @Test func `Observations of the README end when they are told to, and with their bag`() async throws {
        #expect(
            try await run("observe") == [
                "saved 42 Default true", "deleted 42 Default true", "observed 42",
            ])
    }

    @Test func `Observers are called on the main queue where the main loop runs, and elsewhere where it doesn't`()
        async throws
    {
        #expect(try await run("main-loop") == ["saved 1 true", "saved 2 true", "saved 3 true"])
        #expect(try await run("blocked") == ["saved 1 false", "saved 2 false", "true"])
    }

    @Test func `The views of the README`() async throws {
        #expect(try await run("views") == ["observed 42", "Robot", "1 1"])
    }

    private func run(_ program: String) async throws -> [String] {
        // On Apple platforms the user's folders follow the last one.
        let environment = ["HOME": folder.path, "XDG_DATA_HOME": folder.path, "CFFIXED_USER_HOME": folder.path]
        return try await Child(program, program: "CodableStoreCompatibilityChild", environment: environment).lines()
    }
}
