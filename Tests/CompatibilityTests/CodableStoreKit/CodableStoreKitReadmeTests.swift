import TestSupport
import Testing

/// The programs of the README that use the user's folders, each with a separate folder.
@Suite struct ReadmeProgramTests {
    let folder = TemporaryFolder()

    @Test func `The first program of the README, and its objects after a relaunch`() async throws {
        #expect(try await run("use") == ["false", "saved Mr. Default", "Robot true"])
        #expect(try await run("find") == [#"["Robot"]"#, "User.Type"])
    }

    @Test func `The engines of the README`() async throws {
        #expect(try await run("engines") == ["false", "1 true 42", "false"])
        #expect(try await run("find").first == #"["Robot"]"#)
    }

    @Test func `The container of the README is separate from the default one`() async throws {
        #expect(try await run("containers") == ["true false", "Default"])
    }

    @Test func `A program can set the default container`() async throws {
        #expect(try await run("default") == ["false Other", "true"])
    }

    @Test func `The conveniences of the README`() async throws {
        #expect(try await run("conveniences") == ["42", "42", "false false true", #"["42"]"#, "0"])
    }

    @Test func `Observations of the README end upon request and with their bag`() async throws {
        #expect(
            try await run("observe") == [
                "saved 42 Default true", "deleted 42 Default true", "observed 42",
            ])
    }

    @Test func `Observers are called on the main queue while the main run loop runs, and elsewhere otherwise`()
        async throws
    {
        #expect(try await run("main-loop") == ["saved 0 true", "saved 1 true", "saved 2 true", "saved 3 true"])
        #expect(
            try await run("after-main-loop")
                == ["saved 0 true", "saved 1 false", "saved 2 false", "saved 3 false", "true"])
        #expect(try await run("blocked") == ["saved 1 false", "saved 2 false", "true"])
    }

    @Test func `The views of the README`() async throws {
        #expect(try await run("views") == ["observed 42", "Robot", "1 1"])
    }

    private func run(_ program: String) async throws -> [String] {
        // On Apple platforms, the last variable determines the user's folders.
        let environment = ["HOME": folder.path, "XDG_DATA_HOME": folder.path, "CFFIXED_USER_HOME": folder.path]
        return try await Child(program, program: "CodableStoreCompatibilityChild", environment: environment).lines()
    }
}
