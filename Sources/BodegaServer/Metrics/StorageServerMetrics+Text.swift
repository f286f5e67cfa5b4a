#if Server
import Bodega

extension StorageServerMetrics {
    /// The type of ``text`` in HTTP.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The figures in version 0.0.4 of Prometheus' text format.
    public var text: String {
        let state = state.withLock { $0 }
        let routes = state.routes.sorted { $0.key < $1.key }
        var text = MetricsText()
        text.begin("requests_total", "counter", "Requests that were answered.")
        for (route, figures) in routes {
            for (status, count) in figures.statuses.sorted(by: { $0.key < $1.key }) {
                text.add("requests_total", route.labels + [("status", String(status))], String(count))
            }
        }
        text.begin("request_seconds", "histogram", "Seconds from the head of a request to the end of its answer.")
        for (route, figures) in routes {
            var count = 0
            for (bound, more) in zip(Self.bounds, figures.buckets) {
                count += more
                text.add("request_seconds_bucket", route.labels + [("le", String(bound))], String(count))
            }
            text.add("request_seconds_bucket", route.labels + [("le", "+Inf")], String(figures.count))
            text.add("request_seconds_sum", route.labels, String(figures.seconds))
            text.add("request_seconds_count", route.labels, String(figures.count))
        }
        text.begin("request_bytes_total", "counter", "Bytes of bodies of requests.")
        text.add("request_bytes_total", [], String(state.received))
        text.begin("answer_bytes_total", "counter", "Bytes of bodies of answers.")
        text.add("answer_bytes_total", [], String(state.sent))
        text.begin("refused_total", "counter", "What a limit has refused or cut off.")
        for limit in Limit.allCases {
            text.add("refused_total", [("limit", limit.rawValue)], String(state.refused[limit] ?? 0))
        }
        for gauge in Gauge.allCases {
            guard let value = state.gauges[gauge] else { continue }
            text.begin(gauge.rawValue, "gauge", gauge.help)
            text.add(gauge.rawValue, [], String(value()))
        }
        return text.lines
    }
}

extension StorageServerMetrics.Route {
    fileprivate var labels: [(String, String)] { [("route", path), ("method", method)] }
}

extension StorageServerMetrics.Gauge {
    fileprivate var help: String {
        switch self {
        case .connections: "Open connections."
        case .streams: "Open streams of events."
        case .answerFileBytes: "Bytes of temporary files with answers that clients have not read."
        }
    }
}

/// Lines of the format. Its labels are fixed texts, which need no escapes.
private struct MetricsText {
    private(set) var lines = ""

    mutating func begin(_ name: String, _ type: String, _ help: String) {
        lines += "# HELP emporium_\(name) \(help)\n# TYPE emporium_\(name) \(type)\n"
    }

    mutating func add(_ name: String, _ labels: [(String, String)], _ value: String) {
        let list = labels.map { "\($0)=\"\($1)\"" }.joined(separator: ",")
        lines += "emporium_\(name)\(list.isEmpty ? "" : "{\(list)}") \(value)\n"
    }
}
#endif
