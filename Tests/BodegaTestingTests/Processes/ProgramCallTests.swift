import Foundation
import TestSupport
import Testing

@Suite struct ProgramCallTests {

    private func shell(_ script: String) -> ProgramCall {
        ProgramCall(URL(fileURLWithPath: "/bin/sh"), ["-c", script])
    }

    /// The system's answer to the write would end this process, without a result of its tests.
    @Test func `A program that ends before it has read its input ends only itself`() async throws {
        let input = String(repeating: "a", count: 1 << 20)
        #expect(try await shell("exit 7").run(input: input).status == 7)
    }

    @Test func `The output and the errors of a program are collected together`() async throws {
        let result = try await shell("cat; seq 100000 >&2; seq 100000").run(input: "first\n")
        let numbers = (1...100_000).map { "\($0)\n" }.joined()
        #expect(result.text == "first\n" + numbers)
        #expect(result.errors == numbers)
    }
}
