import BenchHarness
import Testing

@Suite("Interleaving")
struct InterleavingTests {
    @Test("Sides run in turn, and the first turn is a warm-up")
    func turns() async throws {
        var turns: [String] = []
        var times: [Duration] = [.seconds(100), .milliseconds(3), .milliseconds(1), .milliseconds(2)]
        let medians = try await interleavedMedians(
            runs: 3,
            [
                {
                    turns.append("A")
                    return times.removeFirst()
                },
                {
                    turns.append("B")
                    return .milliseconds(10)
                },
            ]
        )
        #expect(turns == ["A", "B", "A", "B", "A", "B", "A", "B"])
        #expect(medians == [.milliseconds(2), .milliseconds(10)])
    }

    @Test("The median is the middle value, or the mean of the two middle values")
    func median() {
        #expect([Duration.seconds(9), .seconds(1), .seconds(2)].median == .seconds(2))
        #expect([Duration.seconds(9), .seconds(1), .seconds(2), .seconds(4)].median == .seconds(3))
        #expect([Duration.seconds(5)].median == .seconds(5))
    }

    @Test("A side that fails ends the comparison")
    func failure() async {
        await #expect(throws: VerificationFailure.self) {
            try await compare(
                items: 1,
                runs: 3,
                ours: { .seconds(1) },
                baseline: { throw VerificationFailure("nothing was read") }
            )
        }
    }

    @Test("A percentile is the smallest value that the share of the values does not exceed")
    func percentiles() {
        let times = (1...200).reversed().map { Duration.seconds($0) }
        #expect(times.percentile(0.5) == .seconds(100))
        #expect(times.percentile(0.99) == .seconds(198))
        #expect(times.percentile(1) == .seconds(200))
        #expect([Duration.seconds(7)].percentile(0.01) == .seconds(7))
    }
}
