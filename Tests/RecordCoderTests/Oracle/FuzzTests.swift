import Foundation
import TestSupport
import Testing

/// Runs the fuzzer for a short while. `bin/fuzz` runs it for longer, and repeats a run that failed.
@Suite struct FuzzTests {

    @Test("Documents that were changed at random are decoded and encoded as Foundation decodes and encodes them")
    func fuzz() async throws {
        // In another process, as Foundation's order of several errors can only be fixed when a process starts.
        let child = try Child(
            ["--mutations", "20000", "--seed", "\(Seed.current)"],
            program: "RecordCoderFuzz",
            environment: ["SWIFT_DETERMINISTIC_HASHING": "1"]
        )
        let lines = await child.lines()
        print(lines.joined(separator: "\n"))
        let last = try #require(lines.last)
        // What follows a difference is printed behind this line, and after a crash nothing is.
        #expect(lines.count == 2 && last.contains(" decodings"), "\(lines.joined(separator: "\n"))")
    }
}
