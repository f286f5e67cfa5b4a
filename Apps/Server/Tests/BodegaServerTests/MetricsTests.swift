import AsyncHTTPClient
import Bodega
import BodegaServer
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@Suite("The metrics of a server")
struct MetricsTests {

    /// A sample of Prometheus' text format, version 0.0.4.
    private struct Sample: Hashable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    private struct NotPrometheus: Error {
        let line: String
    }

    /// Reads the format as its specification has it, and refuses anything else.
    private func samples(_ text: String) throws -> [Sample] {
        #expect(text.hasSuffix("\n"))
        var (samples, types, seen): ([Sample], [String: String], Set<String>) = ([], [:], [])
        var family = ""
        for line in text.split(separator: "\n") {
            if let match = line.wholeMatch(of: /# HELP ([a-z_]+) (.+)/) {
                #expect(seen.insert(String(match.1)).inserted, "\(line)")
                family = String(match.1)
            } else if let match = line.wholeMatch(of: /# TYPE ([a-z_]+) (counter|gauge|histogram)/) {
                #expect(match.1 == family)
                types[family] = String(match.2)
            } else if let match = line.wholeMatch(of: /([a-z_]+)(?:\{(.*)\})? ([0-9.e+-]+)/) {
                let name = String(match.1)
                let names = types[family] == "histogram" ? ["_bucket", "_sum", "_count"].map { family + $0 } : [family]
                #expect(names.contains(name), "\(line)")
                var labels: [String: String] = [:]
                for label in (match.2 ?? "").split(separator: ",") {
                    guard let parts = label.wholeMatch(of: /([a-z]+)="([^"\\]*)"/) else {
                        throw NotPrometheus(line: String(line))
                    }
                    labels[String(parts.1)] = String(parts.2)
                }
                guard let value = Double(match.3) else { throw NotPrometheus(line: String(line)) }
                samples.append(Sample(name: name, labels: labels, value: value))
            } else {
                throw NotPrometheus(line: String(line))
            }
        }
        return samples
    }

    private func get(_ url: String, host: String? = nil) async throws -> (status: UInt, type: String?, text: String) {
        var request = HTTPClientRequest(url: url)
        if let host { request.headers.add(name: "Host", value: host) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let text = try await String(buffer: response.body.collect(upTo: 1 << 20))
        return (response.status.code, response.headers.first(name: "Content-Type"), text)
    }

    @Test("count requests by route, method and status, and have no name that a client has sent")
    func counts() async throws {
        let database = MemoryStorageEngine()
        let metrics = StorageServerMetrics()
        let server = try await TestServer(["secretcollection": database]) { options in
            options.metrics = metrics
            options.metricsPort = 0
        }
        while metrics.port == nil { await Task.yield() }
        let address = "http://127.0.0.1:\(try #require(metrics.port))/metrics"
        func send(_ method: HTTPMethod, _ path: String, _ body: String? = nil) async throws -> UInt {
            var request = HTTPClientRequest(url: "\(server.url)\(path)")
            request.method = method
            if let body {
                request.body = .bytes(ByteBuffer(string: body))
                request.headers.add(name: "Content-Type", value: "application/json")
            }
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            _ = try await response.body.collect(upTo: 1 << 20)
            return response.status.code
        }
        let collection = "/v1/collections/secretcollection"
        let sent: [(HTTPMethod, String, String?, UInt)] = [
            (.PUT, "\(collection)/items/secretkey", "0123456789", 204),
            (.GET, "\(collection)/items/secretkey", nil, 200), (.GET, "\(collection)/items/secretkey", nil, 200),
            (.GET, "\(collection)/items/othersecretkey", nil, 404), (.HEAD, "\(collection)/items/secretkey", nil, 200),
            (.POST, "\(collection)/scan", "{}", 200), (.POST, "\(collection)/scan", "[", 400),
            (.GET, "/v1/collections/secretother", nil, 404), (.GET, "/v1/health", nil, 204),
            (.GET, "/secretpath", nil, 404), (.LOCK, "/v1/health", nil, 404),
            (.DELETE, "/v1/health", nil, 405),
        ]
        for (method, path, body, status) in sent {
            #expect(try await send(method, path, body) == status, "\(method) \(path)")
        }
        let answer = try await get(address)
        #expect(answer.status == 200 && answer.type == "text/plain; version=0.0.4; charset=utf-8")
        #expect(!answer.text.lowercased().contains("secret"))
        let found = try samples(answer.text)
        let requests = found.filter { $0.name == "emporium_requests_total" }
        let items = "/v1/collections/{collection}/items/{key}"
        func sample(_ route: String, _ method: String, _ status: Int, _ count: Double) -> Sample {
            Sample(
                name: "emporium_requests_total",
                labels: ["route": route, "method": method, "status": String(status)], value: count)
        }
        #expect(
            Set(requests) == [
                sample(items, "PUT", 204, 1), sample(items, "GET", 200, 2), sample(items, "GET", 404, 1),
                sample(items, "HEAD", 200, 1), sample("/v1/collections/{collection}/scan", "POST", 200, 1),
                sample("/v1/collections/{collection}/scan", "POST", 400, 1),
                sample("/v1/collections/{collection}", "GET", 404, 1), sample("/v1/health", "GET", 204, 1),
                sample("NotFound", "GET", 404, 1), sample("NotFound", "other", 404, 1),
                sample("/v1/health", "DELETE", 405, 1),
            ])
        // A histogram counts each request once, and its buckets grow up to the number of all.
        let counts = found.filter { $0.name == "emporium_request_seconds_count" }
        #expect(counts.reduce(0) { $0 + $1.value } == Double(sent.count))
        for count in counts {
            let buckets = found.filter { sample in
                sample.name == "emporium_request_seconds_bucket" && sample.labels["route"] == count.labels["route"]
                    && sample.labels["method"] == count.labels["method"]
            }
            #expect(buckets.map(\.value) == buckets.map(\.value).sorted() && buckets.last?.value == count.value)
            #expect(buckets.last?.labels["le"] == "+Inf")
            let bounds = buckets.dropLast().compactMap { $0.labels["le"].flatMap { Double($0) } }
            #expect(bounds == bounds.sorted() && bounds.count == buckets.count - 1)
        }
        func value(_ name: String) -> Double? { found.first { $0.name == "emporium_" + name }?.value }
        #expect(value("request_bytes_total") == 13)
        // Two answers with the item, and the others.
        #expect(value("answer_bytes_total").map { $0 > 20 } == true)
        #expect(value("streams") == 0 && value("answer_file_bytes") == 0)
        #expect(value("connections").map { $0 >= 1 } == true)

        // Not for pages of websites, and not on the server's own port.
        #expect(try await get(address, host: "example.com").status == 421)
        #expect(try await get("\(server.url)/metrics").status == 404)
    }

    @Test("show the open streams, and what a limit has refused")
    func streams() async throws {
        let metrics = StorageServerMetrics()
        var limits = StorageServerLimits()
        limits.streams = 1
        let server = try await TestServer(limits: limits, ["notes": MemoryStorageEngine()]) { $0.metrics = metrics }
        let request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/events")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        var parts = response.body.makeAsyncIterator()
        _ = try await parts.next()
        #expect(try samples(metrics.text).first { $0.name == "emporium_streams" }?.value == 1)
        let refused = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        #expect(refused.status == .tooManyRequests)
        let limit = try samples(metrics.text).first { $0.labels == ["limit": "streams"] }
        #expect(limit?.value == 1)
        withExtendedLifetime(parts) {}
    }
}
