#if Server
import Bodega

/// Figures of one ``StorageServer``, in the text format of Prometheus.
///
/// ```swift
/// var options = StorageServerOptions()
/// options.metrics = StorageServerMetrics()
/// options.metricsPort = 9_100  // http://127.0.0.1:9100/metrics
/// ```
///
/// The server answers them on a port of its own, which only this machine can reach. An application can also add
/// ``text`` to its own routes.
///
/// | Figure | Labels | What it is |
/// |---|---|---|
/// | `emporium_requests_total` | `route`, `method`, `status` | requests that were answered |
/// | `emporium_request_seconds` | `route`, `method` | a histogram of the time to the end of the answer |
/// | `emporium_request_bytes_total` | | bytes of bodies of requests that were received |
/// | `emporium_answer_bytes_total` | | bytes of bodies of answers that were sent |
/// | `emporium_refused_total` | `limit` | what a limit has refused or cut off |
/// | `emporium_connections` | | open connections |
/// | `emporium_streams` | | open streams of events |
/// | `emporium_answer_file_bytes` | | temporary files with answers that clients have not read |
///
/// No label has the name of a collection or a client, a key, or any other text that a client has sent.
public final class StorageServerMetrics: Sendable {

    /// A limit that has refused something.
    enum Limit: String, CaseIterable {
        case connections, time, rate, streams, answerFiles, bodies
    }

    /// A figure that is read when it is asked for.
    enum Gauge: String, CaseIterable {
        case connections, streams
        case answerFileBytes = "answer_file_bytes"
    }

    struct Route: Hashable, Comparable {
        let path: String
        let method: String

        static func < (left: Route, right: Route) -> Bool {
            (left.path, left.method) < (right.path, right.method)
        }
    }

    struct RouteFigures {
        var statuses: [Int: Int] = [:]
        var buckets = [Int](repeating: 0, count: StorageServerMetrics.bounds.count)
        var count = 0
        var seconds = 0.0
    }

    struct State {
        var routes: [Route: RouteFigures] = [:]
        var refused: [Limit: Int] = [:]
        var gauges: [Gauge: @Sendable () -> Int] = [:]
        var received = 0
        var sent = 0
        var port: Int?
    }

    /// The upper bounds of the histogram of times, in seconds.
    static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    let state = Locked(State())

    /// Creates figures that are all zero.
    public init() {}

    /// The port on which a server answers the figures; `nil` before it listens there.
    public var port: Int? { state.withLock { $0.port } }

    /// Counts a request that has been answered.
    func answered(_ route: Route, status: Int, time: Duration) {
        let seconds = time / .seconds(1)
        state.withLock { state in
            var figures = state.routes.removeValue(forKey: route) ?? RouteFigures()
            figures.statuses[status, default: 0] += 1
            if let bucket = Self.bounds.firstIndex(where: { seconds <= $0 }) { figures.buckets[bucket] += 1 }
            figures.count += 1
            figures.seconds += seconds
            state.routes[route] = figures
        }
    }

    /// Counts bytes of bodies.
    func add(received: Int = 0, sent: Int = 0) {
        state.withLock { state in
            state.received += received
            state.sent += sent
        }
    }

    /// Counts what a limit has refused.
    func refused(_ limit: Limit) { state.withLock { $0.refused[limit, default: 0] += 1 } }

    /// Sets from where a figure is read.
    func read(_ gauge: Gauge, from value: @escaping @Sendable () -> Int) {
        state.withLock { $0.gauges[gauge] = value }
    }

    func listens(on port: Int?) { state.withLock { $0.port = port } }
}
#endif
