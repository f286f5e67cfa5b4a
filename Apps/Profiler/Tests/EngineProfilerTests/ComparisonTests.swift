import Foundation
import Testing

@testable import EngineProfiler

@Suite struct ComparisonTests {

    private func compare(_ a: OperationResult, _ b: OperationResult) throws -> Comparison.Row {
        let comparison = try Comparison(
            Sample.profile([Sample.engine("x", [1000: [a]])]), Sample.profile([Sample.engine("x", [1000: [b]])]))
        return try #require(comparison.rows.first)
    }

    @Test func `Ratios are those of medians, 99th percentiles and throughputs`() throws {
        let row = try compare(Sample.steady(around: 10_000), Sample.steady(around: 20_000))
        #expect(abs(row.p50 - 2) < 0.03)
        #expect(abs(row.p99 - 2) < 0.03)
        #expect(abs(row.throughput - 0.5) < 0.01)
    }

    @Test func `A change beyond noise is marked, in either direction`() throws {
        let fast = Sample.steady(around: 10_000)
        let slow = Sample.steady(around: 20_000)
        #expect(try compare(fast, slow).change == .slower)
        #expect(try compare(slow, fast).change == .faster)
        #expect(try compare(fast, fast).change == .none)
    }

    @Test func `A difference within the noise is not marked, however large`() throws {
        let noisy = Sample.measurement(slices: [[2000], [9000], [9000], [9000], [2000]])
        let other = Sample.measurement(slices: [[1000], [1000], [1000], [9000], [1000]])
        let row = try compare(other, noisy)
        #expect(row.p50 > 5)
        #expect(row.change == .none)
        #expect(!row.isSlower(than: 1.2))
    }

    @Test func `A difference of three per cent is not marked, however steady`() throws {
        let row = try compare(
            Sample.measurement(slices: Array(repeating: [1_000_000], count: 5)),
            Sample.measurement(slices: Array(repeating: [1_020_000], count: 5)))
        #expect(row.change == .none)
    }

    @Test func `Changes with fewer than five slices are not marked`() throws {
        #expect(try compare(Sample.measurement(slices: [[1000]]), Sample.measurement(slices: [[9000]])).change == .none)
    }

    @Test func `The notes count the rows with fewer than five slices, and the table marks them`() throws {
        let (few, enough) = (Sample.measurement("few", slices: [[1000]]), Sample.steady("enough", around: 500))
        let comparison = try Comparison(
            Sample.profile([Sample.engine("x", [1000: [few, enough]])]),
            Sample.profile([Sample.engine("x", [1000: [few, enough]])]))
        #expect(
            comparison.notes == ["1 of 2 rows have fewer than 5 slices in A or B, so their changes are not marked."])
        let lines = ComparisonTable(comparison: comparison, terminal: FakeTerminal().terminal, changesOnly: false).lines
        #expect(lines.contains { $0.contains("few ") && $0.hasSuffix("too few slices") })
        #expect(lines.count { $0.hasSuffix("too few slices") } == 1)
    }

    @Test func `The notes name sizes and operations that are only in one file`() throws {
        func measured(_ operations: String...) -> [OperationResult] {
            operations.map { Sample.steady($0, around: 500) }
        }
        let comparison = try Comparison(
            Sample.profile([
                Sample.engine(
                    "x", [10: measured("read"), 100: measured("read", "write", "keys"), 1000: measured("read", "keys")])
            ]),
            Sample.profile([
                Sample.engine(
                    "x", [100: measured("read", "keys"), 1000: measured("read", "count"), 5000: measured("read")])
            ]))
        #expect(
            comparison.notes == [
                "x: 10 items are only in A.", "x: write is only in A.", "x: keys with 1,000 items is only in A.",
                "x: 5,000 items are only in B.", "x: count is only in B.",
            ])
        #expect(comparison.rows.count == 3)
    }

    @Test func `Only a marked median above the limit is too slow`() throws {
        let row = try compare(Sample.steady(around: 10_000), Sample.steady(around: 15_000))
        #expect(row.isSlower(than: 1.2))
        #expect(!row.isSlower(than: 1.6))
    }

    @Test func `Engines are matched by name, and the notes name those without a match`() throws {
        let read = [1000: [Sample.steady(around: 500)]]
        let comparison = try Comparison(
            Sample.profile([Sample.engine("a", read), Sample.engine("b", read)]),
            Sample.profile([Sample.engine("c", read), Sample.engine("b", read)]))
        #expect(comparison.rows.map(\.engine) == ["b"])
        #expect(comparison.notes.contains("a is only in A."))
        #expect(comparison.notes.contains("c is only in B."))
    }

    @Test func `Two single engines are compared even if their names differ`() throws {
        let comparison = try Comparison(
            Sample.profile([Sample.engine("a", [1000: [Sample.steady(around: 500)]])]),
            Sample.profile([Sample.engine("b", [1000: [Sample.steady(around: 500)]])]))
        #expect(comparison.rows.map(\.engine) == ["a → b"])
    }

    @Test func `Runs that have nothing in common are an error`() {
        #expect(throws: ProfilerError.self) {
            try Comparison(
                Sample.profile([Sample.engine("a", [1000: [Sample.steady(around: 500)]])]),
                Sample.profile([Sample.engine("a", [2000: [Sample.steady(around: 500)]])]))
        }
    }

    @Test func `The notes name different settings`() throws {
        let a = Sample.profile([Sample.engine("a", [1000: [Sample.steady(around: 500)]])])
        var b = a
        b.settings.durability = .relaxed
        b.settings.valueBytes = 1000
        let notes = try Comparison(a, b).notes
        #expect(notes.contains("Durability differs: full in A, relaxed in B."))
        #expect(notes.contains("Value size differs: 256 in A, 1000 in B."))
    }

    @Test func `The table has a line for each row, and can leave out rows without a marked change`() throws {
        let comparison = try Comparison(
            Sample.profile([
                Sample.engine("a", [1000: [Sample.steady(around: 10_000), Sample.steady("write", around: 500)]])
            ]),
            Sample.profile([
                Sample.engine("a", [1000: [Sample.steady(around: 20_000), Sample.steady("write", around: 500)]])
            ]))
        let plain = FakeTerminal().terminal
        let lines = ComparisonTable(comparison: comparison, terminal: plain, changesOnly: false).lines
        #expect(lines.contains { $0.contains("read") && $0.contains("2.00×") && $0.hasSuffix("slower") })
        #expect(lines.contains { $0.contains("write") && $0.contains("1.00×") })
        #expect(lines.last == "Ratios are B / A. 0 faster, 1 slower, of 2.")
        let changes = ComparisonTable(comparison: comparison, terminal: plain, changesOnly: true).lines
        #expect(!changes.contains { $0.contains("write") })
    }
}
