import BenchHarness
import Foundation
import Testing

@Suite("Rows")
struct RowTests {
    private let metric = Metric("a.metric", baseline: "by hand", maximum: 1.5) { _ in
        Outcome(items: 1, ours: .seconds(1), baseline: .seconds(1))
    }

    private func fields(of row: Row) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(try row.json().utf8))
        return try #require(object as? [String: Any])
    }

    @Test("A row about time has the documented fields, on one line")
    func time() throws {
        let outcome = Outcome(items: 100, ours: .milliseconds(3), baseline: .milliseconds(2))
        let row = Row(metric, [outcome], isJudged: true)
        let fields = try fields(of: row)
        #expect(try !row.json().contains("\n"))
        #expect(fields["metric"] as? String == "a.metric")
        #expect(fields["n"] as? Int == 100)
        #expect(fields["ours_ms"] as? Double == 3)
        #expect(fields["baseline"] as? String == "by hand")
        #expect(fields["baseline_ms"] as? Double == 2)
        #expect(fields["ratio"] as? Double == 1.5)
        #expect(fields["met"] as? Bool == true)
    }

    @Test("A row about memory has bytes instead of milliseconds")
    func memory() throws {
        let fields = try fields(of: Row(metric, [Outcome(items: 1, oursBytes: 30, baselineBytes: 10)], isJudged: true))
        #expect(fields["ours_ms"] is NSNull)
        #expect(fields["baseline_ms"] is NSNull)
        #expect(fields["ours_bytes"] as? Int == 30)
        #expect(fields["baseline_bytes"] as? Int == 10)
        #expect(fields["met"] as? Bool == false)
    }

    @Test("The members are in the documented order")
    func order() throws {
        let outcome = Outcome(items: 100, ours: .milliseconds(3), baseline: .milliseconds(2))
        let time = Row(metric, [outcome], isJudged: true)
        #expect(
            try time.json() == """
                {"metric":"a.metric","n":100,"ours_ms":3,"baseline":"by hand","baseline_ms":2,"ratio":1.5,"max":1.5,\
                "met":true,"spread":null}
                """
        )
        let memory = Row(metric, [Outcome(items: 1, oursBytes: 30, baselineBytes: 10)], isJudged: false)
        #expect(
            try memory.json() == """
                {"metric":"a.metric","n":1,"ours_ms":null,"baseline":"by hand","baseline_ms":null,"ratio":3,"max":1.5,\
                "met":null,"spread":null,"ours_bytes":30,"baseline_bytes":10}
                """
        )
    }

    @Test("Of several outcomes, the one with the middle ratio counts, and the row says how much they differ")
    func repetitions() throws {
        func row(_ seconds: Double...) -> Row {
            Row(metric, seconds.map { Outcome(items: 1, ours: .seconds($0), baseline: .seconds(1)) }, isJudged: true)
        }
        let varying = row(1.6, 1.3, 1.45)
        #expect(varying.outcome.ratio == 1.45)
        #expect(varying.isMet == true)
        #expect(try fields(of: varying)["spread"] as? Double == 0.207)
        #expect(varying.varies)
        #expect(Table(for: [metric]).line(for: varying).contains("yes   21 %!  by hand"))
        let slow = row(1.6, 1.55, 1.45)
        #expect(slow.isMet == false)
        #expect(!slow.varies)
        #expect(Table(for: [metric]).line(for: slow).contains("NO    10 %  by hand"))
        #expect(row(9).spread == nil)
        let hits = [10, 30, 20].map { Outcome(items: 40, oursHits: $0, baselineHits: 30) }
        #expect(Row(metric, hits, isJudged: true).outcome.ours == 20)
    }

    @Test("A row without a maximum is not checked")
    func unpromised() throws {
        let metric = Metric("a.metric", baseline: "by hand", maximum: nil, measure: metric.measure)
        let row = Row(metric, [Outcome(items: 1, ours: .seconds(9), baseline: .seconds(1))], isJudged: true)
        let fields = try fields(of: row)
        #expect(fields["max"] is NSNull)
        #expect(fields["met"] is NSNull)
        #expect(Table(for: [metric]).line(for: row).contains("9.00      -     -"))
    }

    @Test("A row that is not checked says so")
    func unjudged() throws {
        let row = Row(metric, [Outcome(items: 1, oursBytes: 30, baselineBytes: 10)], isJudged: false)
        #expect(row.isMet == nil)
        #expect(try fields(of: row)["met"] is NSNull)
    }

    @Test("The lines of a table are aligned")
    func alignment() {
        let table = Table(for: [metric])
        let row = Row(metric, [Outcome(items: 100_000, ours: .seconds(12), baseline: .seconds(10))], isJudged: true)
        let line = table.line(for: row)
        #expect(line.contains("12000.00 ms"))
        #expect(line.contains("1.20"))
        // Both last columns start at the same position.
        let title = table.header.range(of: "compared with")?.lowerBound.utf16Offset(in: table.header)
        let comparison = line.range(of: "by hand")?.lowerBound.utf16Offset(in: line)
        #expect(title != nil)
        #expect(title == comparison)
    }
}
