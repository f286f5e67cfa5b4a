import Foundation
import Testing

@testable import EngineProfiler

@Suite struct LiveViewTests {

    /// A clock that the test controls.
    private final class Clock: @unchecked Sendable {
        // @unchecked because only one task uses it.
        var now = 0.0
    }

    private func latencies(_ times: [UInt64]) -> Latencies {
        var latencies = Latencies()
        for time in times { latencies.record(time) }
        return latencies
    }

    @Test func `A terminal shows the progress of the run, the operation and its percentiles so far`() {
        let fake = FakeTerminal(canRedraw: true)
        let view = LiveView(fake.terminal, total: 4, names: ["sqlite"], now: { 75 })
        view.show(.measured(engine: "sqlite", items: 1000, Sample.steady(around: 500)))
        view.show(
            .measuring(
                engine: "sqlite", items: 1000, .write, soFar: latencies(Array(repeating: 2_000_000, count: 1234))))
        let (lines, isCursorShown) = fake.screen
        #expect(lines.count == 3)
        #expect(lines[0].contains("read") && lines[0].contains("p50"))
        #expect(lines[1].contains("25 %  1 of 4  1:15"))
        #expect(lines[2] == "sqlite · 1,000 items · write · 1,234 calls · p50 2 ms · p99 2 ms")
        #expect(!isCursorShown)
    }

    @Test func `At the end the measurements stay, and the cursor is visible`() {
        let fake = FakeTerminal(canRedraw: true)
        let view = LiveView(fake.terminal, total: 2, names: ["a"], now: { 0 })
        view.show(.filling(engine: "a", items: 5000, done: 1000))
        view.show(.measured(engine: "a", items: 5000, Sample.steady(around: 500)))
        view.show(.measuring(engine: "a", items: 5000, .write, soFar: latencies([])))
        view.close()
        let (lines, isCursorShown) = fake.screen
        #expect(lines.filter { !$0.isEmpty }.count == 1)
        #expect(isCursorShown)
    }

    @Test func `Events after the end are ignored, so that the cursor stays visible`() {
        let fake = FakeTerminal(canRedraw: true)
        let view = LiveView(fake.terminal, total: 1, names: ["a"], now: { 0 })
        view.close()
        view.show(.filling(engine: "a", items: 5000, done: 1000))
        #expect(fake.screen.isCursorShown)
        #expect(fake.screen.lines == [""])
    }

    @Test func `The view is redrawn at most ten times a second`() {
        let clock = Clock()
        let fake = FakeTerminal(canRedraw: true)
        let view = LiveView(fake.terminal, total: 1, names: ["a"], now: { clock.now })
        for step in 0..<100 {
            clock.now = Double(step) / 100
            view.show(.filling(engine: "a", items: 100_000, done: step))
        }
        let drawings = fake.text.components(separatedBy: "writing").count - 1
        #expect((9...11).contains(drawings))
    }

    @Test func `No line is wider than the terminal`() {
        let fake = FakeTerminal(canRedraw: true, columns: 40)
        let view = LiveView(fake.terminal, total: 2, names: ["a"], now: { 0 })
        view.show(.measured(engine: "a", items: 100_000, Sample.steady("store-insert-batch", around: 500)))
        view.show(.filling(engine: String(repeating: "long", count: 30), items: 5000, done: 1000))
        #expect(fake.screen.lines.allSatisfy { $0.count < 40 })
    }

    @Test func `A pipe gets a line for each measurement and no control sequences`() {
        let fake = FakeTerminal()
        let view = LiveView(fake.terminal, total: 2, names: ["a"], now: { 0 })
        view.show(.filling(engine: "a", items: 5000, done: 1000))
        view.show(.measured(engine: "a", items: 5000, Sample.steady(around: 500)))
        view.close()
        #expect(fake.text.split(separator: "\n").count == 1)
        #expect(!fake.text.contains("\u{1B}") && !fake.text.contains("\r"))
    }

    @Test func `Names can't send control sequences to the terminal`() {
        let fake = FakeTerminal()
        let view = LiveView(fake.terminal, total: 2, names: ["a\u{1B}[2Jb"], now: { 0 })
        view.show(.measured(engine: "a\u{1B}[2Jb", items: 5000, Sample.steady(around: 500)))
        #expect(fake.text.hasPrefix("a?[2Jb"))
    }

    @Test func `Colors are only used if they are enabled`() {
        let profile = Sample.profile([Sample.engine("a", [1000: [Sample.steady(around: 500)]])])
        let plain = ProfileTable(profile: profile, terminal: FakeTerminal().terminal).lines.joined()
        #expect(!plain.contains("\u{1B}"))
        let color = FakeTerminal(canRedraw: true, hasColor: true).terminal
        #expect(ProfileTable(profile: profile, terminal: color).lines.joined().contains("\u{1B}[1mread\u{1B}[0m"))
    }
}
