#if Metrics
public import CoreMetrics

/// An engine that counts and times the calls of another engine, with swift-metrics.
/// ``StorageEngine/metered(label:dimensions:factory:)`` creates one.
///
/// It needs the package trait `Metrics`. The names follow the conventions of Prometheus. With the label `storage`, the
/// metrics are:
///
/// | metric | type | what it records |
/// |---|---|---|
/// | `storage_call_duration_seconds` | timer | the duration of each call that was not cancelled |
/// | `storage_calls_total` | counter | the calls that have ended, including those that failed or were cancelled |
/// | `storage_errors_total` | counter | the calls that failed; one whose task was cancelled is not a failure |
/// | `storage_written_bytes_total` | counter | the bytes of the items that successful writes were passed |
/// | `storage_read_bytes_total` | counter | the bytes of the items that successful reads returned |
///
/// A timer receives nanoseconds, as all timers of swift-metrics do; the backend exports them in its own unit, and that
/// of Prometheus in seconds.
///
/// Each metric has the dimension `operation`, a ``StorageCall/Operation``. That of errors also has the dimension
/// `code`: the code of the ``StorageError``, or `unknown` for errors of other types. A metric is created when the first
/// call of its operation ends, and stays.
///
/// Signals of changes are not metered. A conditional batch whose conditions are not met is a successful call.
public struct MeteredStorageEngine: ForwardingStorageEngine {
    public let base: any StorageBackend
    let metrics: StorageMetrics
    let clock: any Clock<Duration>

    public func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        let elapsed = clock.stopwatch()
        do {
            let answer = try await body()
            // Before the bytes are counted.
            let duration = elapsed()
            let bytes = call.isWrite ? call.byteCount : answer.value.byteCount
            metrics.of(call.operation).recordSuccess(duration, bytes: bytes)
            return answer
        } catch let error as CancellationError {
            metrics.of(call.operation).recordCancellation()
            throw error
        } catch {
            metrics.of(call.operation).recordFailure(elapsed())
            metrics.errors(of: call.operation, (error as? StorageError)?.code).increment()
            throw error
        }
    }
}

extension StorageEngine {

    /// Returns an engine that counts and times the calls of this engine, with swift-metrics.
    ///
    /// ```swift
    /// let engine = MemoryStorageEngine().metered(dimensions: [("engine", "notes")])
    /// ```
    ///
    /// Call it once for each engine, and keep the result: the metrics are created again for each wrapper. Bootstrap
    /// `MetricsSystem` before.
    ///
    /// - Parameters:
    ///   - label: The first part of the names of all metrics.
    ///   - dimensions: Names and values that all metrics have in addition, for example to distinguish engines. Not
    ///     `operation` or `code`.
    ///   - factory: The factory of the metrics; by default, that with which `MetricsSystem` was bootstrapped.
    public func metered(
        label: String = "storage",
        dimensions: [(String, String)] = [],
        factory: any MetricsFactory = MetricsSystem.factory
    ) -> MeteredStorageEngine {
        metered(label: label, dimensions: dimensions, factory: factory, clock: ContinuousClock())
    }

    /// - Parameter clock: Measures the durations.
    func metered(
        label: String, dimensions: [(String, String)], factory: any MetricsFactory, clock: any Clock<Duration>
    ) -> MeteredStorageEngine {
        MeteredStorageEngine(base: backend, metrics: StorageMetrics(label, dimensions, factory), clock: clock)
    }
}
#endif
