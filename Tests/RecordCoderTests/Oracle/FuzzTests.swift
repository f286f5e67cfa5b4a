import Foundation
import TestSupport
import Testing

/// Runs the fuzzer briefly. `bin/fuzz` runs it for longer, and reproduces a failed run.
@Suite struct FuzzTests {

    @Test("Mutated documents are decoded and encoded as in Foundation")
    func fuzz() async throws {
        // In another process, because Foundation's order of several errors can only be fixed at the start of a process.
        let child = try Child(
            ["--mutations", "\(TestSizes.mutations)", "--seed", "\(Seed.current)"],
            program: "RecordCoderFuzz",
            environment: ["SWIFT_DETERMINISTIC_HASHING": "1"]
        )
        let lines = await child.lines()
        print(lines.joined(separator: "\n"))
        let last = try #require(lines.last)
        // The report of a difference follows this line. After a crash, no line follows.
        #expect(lines.count == 2 && last.contains(" decodings"), "\(lines.joined(separator: "\n"))")
    }
}
