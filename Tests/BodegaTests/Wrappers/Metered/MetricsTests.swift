#if Metrics
import BodegaTesting
import CoreMetrics
import Foundation
import MetricsTestKit
import TestSupport
import Testing

@testable import Bodega

/// The metrics of an engine's calls.
struct MetricsTests {
    private let metrics = TestMetrics()
    private let faulty = FaultInjectingStorageEngine(MemoryStorageEngine())
    private let key = CacheKey("a")

    /// The totals of all counters, by their names and dimensions.
    private var totals: [String: Int64] {
        Dictionary(uniqueKeysWithValues: metrics.counters.map { (name($0.label, $0.dimensions), $0.totalValue) })
    }

    private func name(_ label: String, _ dimensions: [(String, String)]) -> String {
        label + " " + dimensions.map { "\($0)=\($1)" }.joined(separator: " ")
    }

    @Test func `Each call is counted with its bytes and its error, and a cancelled one is no error`() async throws {
        let engine = faulty.metered(dimensions: [("engine", "notes")], factory: metrics)
        try await engine.write(Data(count: 6), key: key)
        try await engine.write([(CacheKey("b"), Data(count: 10)), (CacheKey("c"), Data(count: 20))])
        _ = try await engine.fetch(key: key)
        _ = await engine.readAllData()
        // What queries read is counted, too.
        _ = try await ObjectStorage<String>(storage: engine).count(Query(), omittingUndecodable: true)
        faulty.inject(.fail([.fetch], with: CancellationError()))
        _ = try? await engine.fetch(key: key)
        faulty.clearFaults()
        faulty.inject(.fail([.fetch], with: StorageError(.locked, "Locked.")))
        _ = try? await engine.fetch(key: key)
        faulty.clearFaults()
        faulty.inject(.fail([.apply], with: UnknownFault()))
        _ = try? await engine.apply([.write(key: key, data: Data(count: 40))])
        #expect(
            totals == [
                "storage_calls_total engine=notes operation=apply": 3,
                "storage_written_bytes_total engine=notes operation=apply": 36,
                "storage_calls_total engine=notes operation=fetch": 3,
                "storage_read_bytes_total engine=notes operation=fetch": 6,
                "storage_errors_total engine=notes operation=fetch code=locked": 1,
                // A query asks which indexes there are.
                "storage_calls_total engine=notes operation=fetchIndexes": 1,
                "storage_read_bytes_total engine=notes operation=fetchIndexes": 0,
                "storage_calls_total engine=notes operation=scan": 2,
                "storage_read_bytes_total engine=notes operation=scan": 72,
                "storage_errors_total engine=notes operation=apply code=unknown": 1,
            ])
    }

    @Test func `The duration of each call that was not cancelled is recorded in nanoseconds`() async throws {
        let clock = InstantClock()
        let engine = SlowEngine(base: faulty, clock: clock)
            .metered(label: "notes", dimensions: [], factory: metrics, clock: clock)
        try await engine.write(Data(), key: key)
        faulty.inject(.fail([.apply], with: StorageError(.locked, "Locked.")))
        _ = try? await engine.write(Data(), key: key)
        faulty.clearFaults()
        faulty.inject(.fail([.apply], with: CancellationError()))
        _ = try? await engine.write(Data(), key: key)
        let timer = try metrics.expectTimer("notes_call_duration_seconds", [("operation", "apply")])
        #expect(timer.values == [1_500_000_000, 1_500_000_000])
        #expect(metrics.timers.count == 1)
    }

    @Test func `Metrics are created once for each operation, also by concurrent calls`() async throws {
        let factory = CountingFactory(base: metrics)
        let engine = faulty.metered(factory: factory)
        #expect(factory.created.withLock { $0 } == 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await engine.write(Data(count: number), key: CacheKey("\(number)"))
                    _ = try await engine.fetch(key: CacheKey("\(number)"))
                }
            }
            try await group.waitForAll()
        }
        #expect(factory.created.withLock { $0 } == 6)
        #expect(metrics.counterTotal(label: "storage_calls_total") == 40)
        #expect(metrics.counterTotal(label: "storage_written_bytes_total") == 190)
        #expect(metrics.counterTotal(label: "storage_read_bytes_total") == 190)
    }
}

private struct UnknownFault: Error {}

/// Takes one and a half seconds of a clock for each call.
private struct SlowEngine: ForwardingStorageEngine {
    let base: any StorageBackend
    let clock: InstantClock

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        clock.advance(by: .milliseconds(1_500))
        return try await body()
    }
}

/// Counts the metrics that it creates.
private struct CountingFactory: MetricsFactory {
    let base: TestMetrics
    let created = Locked(0)

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        created.withLock { $0 += 1 }
        return base.makeCounter(label: label, dimensions: dimensions)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        created.withLock { $0 += 1 }
        return base.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        created.withLock { $0 += 1 }
        return base.makeTimer(label: label, dimensions: dimensions)
    }

    func destroyCounter(_ handler: any CounterHandler) { base.destroyCounter(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) { base.destroyRecorder(handler) }
    func destroyTimer(_ handler: any TimerHandler) { base.destroyTimer(handler) }
}
#endif
