import BodegaTesting
import Foundation
import Testing

@testable import EngineProfiler

@Suite struct LatenciesTests {

    /// Times from nanoseconds to minutes, most of them short.
    private func times(_ count: Int, seed: UInt64) -> [UInt64] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in UInt64(pow(10, Double.random(in: 0...11, using: &generator))) }
    }

    @Test(arguments: [1, 2, 3, 10, 999, 100_000])
    func `Percentiles are at most one per cent off those of the sorted times`(count: Int) {
        let times = times(count, seed: UInt64(count))
        var latencies = Latencies()
        for time in times { latencies.record(time) }
        let sorted = times.sorted()
        for percentile in [1.0, 25, 50, 90, 99, 99.9, 100] {
            // The nearest rank: the smallest time that this share of the times does not exceed.
            let rank = max(1, Int((percentile / 100 * Double(count)).rounded(.up)))
            let exact = Double(sorted[rank - 1])
            let found = Double(latencies.percentile(percentile))
            #expect(abs(found - exact) <= exact * 0.01, "percentile \(percentile): \(found), exactly \(exact)")
        }
    }

    @Test func `Shortest, longest, mean and count are exact`() {
        let times = times(5000, seed: 7)
        var latencies = Latencies()
        for time in times { latencies.record(time) }
        #expect(latencies.count == 5000)
        #expect(latencies.min == times.min())
        #expect(latencies.max == times.max())
        #expect(latencies.total == times.reduce(0, +))
        #expect(latencies.mean == Double(times.reduce(0, +)) / 5000)
    }

    @Test func `The sum of two workers' latencies equals that of one worker with all calls`() {
        let times = times(1000, seed: 3)
        var whole = Latencies()
        var parts = [Latencies(), Latencies()]
        for (index, time) in times.enumerated() {
            whole.record(time)
            parts[index % 2].record(time)
        }
        var sum = parts[0]
        sum.add(parts[1])
        #expect(sum.buckets == whole.buckets)
        #expect(sum.total == whole.total)
        #expect(sum.percentile(99) == whole.percentile(99))
    }

    @Test func `Buckets hold all calls, in the order of their times`() {
        var latencies = Latencies()
        for time in times(1000, seed: 9) { latencies.record(time) }
        #expect(latencies.buckets.reduce(0) { $0 + $1[1] } == 1000)
        #expect(latencies.buckets.map { $0[0] } == latencies.buckets.map { $0[0] }.sorted())
    }

    @Test func `Empty latencies are zero, and times above an hour count as an hour`() {
        var latencies = Latencies()
        #expect(latencies.percentile(50) == 0 && latencies.min == 0 && latencies.max == 0 && latencies.mean == 0)
        latencies.record(.max / 4)
        #expect(latencies.max == 3_600_000_000_000)
    }

    @Test func `Parts of a number of calls add up to it`() {
        for calls in [1, 4, 5, 7, 100, 101] {
            for workers in [1, 3] {
                var sum = 0
                for slice in 0..<Budget.slices {
                    for worker in 0..<workers {
                        guard
                            case .calls(let part) = Budget.calls(calls).part(slice: slice, worker: worker, of: workers)
                        else { continue }
                        sum += part
                    }
                }
                #expect(sum == calls)
            }
        }
    }
}
