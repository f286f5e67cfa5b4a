#if Metrics
import CoreMetrics

/// The metrics of a ``MeteredStorageEngine``.
///
/// Handlers are expensive to create in some backends, so they are created once for each operation and kept. `created`
/// guards the dictionaries; the metrics are thread-safe.
final class StorageMetrics: Sendable {
    private let label: String
    private let dimensions: [(String, String)]
    private let factory: any MetricsFactory
    private let created = Locked(Created())

    private struct Created {
        var calls: [StorageCall.Operation: CallMetrics] = [:]
        var errors: [Failure: Counter] = [:]
    }

    private struct Failure: Hashable {
        var operation: StorageCall.Operation
        var code: StorageError.Code?
    }

    init(_ label: String, _ dimensions: [(String, String)], _ factory: any MetricsFactory) {
        (self.label, self.dimensions, self.factory) = (label, dimensions, factory)
    }

    /// The metrics of an operation.
    func of(_ operation: StorageCall.Operation) -> CallMetrics {
        created.withLock { created in
            if let metrics = created.calls[operation] { return metrics }
            let dimensions = dimensions + [("operation", operation.rawValue)]
            let bytes = operation.isWrite ? "written_bytes_total" : "read_bytes_total"
            let metrics = CallMetrics(
                duration: Timer(label: "\(label)_call_duration_seconds", dimensions: dimensions, factory: factory),
                calls: Counter(label: "\(label)_calls_total", dimensions: dimensions, factory: factory),
                bytes: Counter(label: "\(label)_\(bytes)", dimensions: dimensions, factory: factory)
            )
            created.calls[operation] = metrics
            return metrics
        }
    }

    /// The counter of the failures of an operation.
    ///
    /// - Parameter code: The code of the error; `nil` for errors of other types.
    func errors(of operation: StorageCall.Operation, _ code: StorageError.Code?) -> Counter {
        let failure = Failure(operation: operation, code: code)
        return created.withLock { created in
            if let counter = created.errors[failure] { return counter }
            let dimensions =
                dimensions + [("operation", operation.rawValue), ("code", code?.rawValue ?? "unknown")]
            let counter = Counter(label: "\(label)_errors_total", dimensions: dimensions, factory: factory)
            created.errors[failure] = counter
            return counter
        }
    }
}

/// The metrics of one operation.
struct CallMetrics: Sendable {
    let duration: Timer
    let calls: Counter
    /// The bytes of items that are passed or returned.
    let bytes: Counter

    func recordSuccess(_ elapsed: Duration, bytes count: Int) {
        calls.increment()
        duration.recordNanoseconds(elapsed.nanoseconds)
        if count > 0 { bytes.increment(by: count) }
    }

    func recordFailure(_ elapsed: Duration) {
        calls.increment()
        duration.recordNanoseconds(elapsed.nanoseconds)
    }

    func recordCancellation() {
        calls.increment()
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
#endif
