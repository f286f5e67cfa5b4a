import Bodega
import BodegaServer
import Foundation
import Testing

/// The main tasks with curl: addresses, methods and headers are those of the protocol's document.
@Suite("A client that only has the document")
struct DocumentTests {

    /// An operation of the document.
    private struct Operation {
        let method: String
        let path: String
        /// The headers of its parameters, by their names.
        let headers: Set<String>
    }

    private struct Answer {
        let status: Int
        let headers: [String: String]
        let body: String

        /// The objects of the lines.
        var lines: [[String: Any]] {
            get throws {
                try body.split(separator: "\n").map {
                    try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
                }
            }
        }
    }

    private let server: TestServer
    private let operations: [String: Operation]

    init() async throws {
        let database = MemoryStorageEngine()
        server = try await TestServer([
            "notes": database.collection(named: "notes"), "tags": database.collection(named: "tags"),
        ])
        let text = try await ProgramRun("curl", ["--silent", "\(server.url)/v1/openapi.json"]).output
        let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        func resolved(_ value: Any) -> [String: Any] {
            guard let object = value as? [String: Any] else { return [:] }
            guard let reference = object["$ref"] as? String else { return object }
            return reference.split(separator: "/").dropFirst().reduce(document) {
                $0[String($1)] as? [String: Any] ?? [:]
            }
        }
        var operations: [String: Operation] = [:]
        for (path, item) in document["paths"] as? [String: [String: Any]] ?? [:] {
            for (method, value) in item where method != "parameters" {
                let operation = try #require(value as? [String: Any])
                let parameters = [operation["parameters"], item["parameters"]].flatMap { $0 as? [Any] ?? [] }
                let headers = parameters.map(resolved).filter { $0["in"] as? String == "header" }
                operations[try #require(operation["operationId"] as? String)] = Operation(
                    method: method.uppercased(), path: path,
                    headers: Set(headers.compactMap { $0["name"] as? String }))
            }
        }
        self.operations = operations
    }

    private func arguments(
        _ name: String, _ parameters: [String: String], _ headers: [String: String], _ body: String?
    ) throws -> [String] {
        let operation = try #require(operations[name], "\(name)")
        #expect(operation.headers.isSuperset(of: headers.keys), "\(name)")
        var path = operation.path
        for (name, value) in parameters { path = path.replacing("{\(name)}", with: value) }
        #expect(!path.contains("{"), "\(path)")
        var arguments = ["--silent", "--request", operation.method, "\(server.url)\(path)"]
        for (name, value) in headers { arguments += ["--header", "\(name): \(value)"] }
        if let body { arguments += ["--header", "Content-Type: application/json", "--data-binary", body] }
        return arguments
    }

    private func call(
        _ name: String, _ parameters: [String: String] = [:], _ headers: [String: String] = [:], _ body: String? = nil
    ) async throws -> Answer {
        let run = try await ProgramRun(
            "curl", ["--include", "--max-time", "60"] + arguments(name, parameters, headers, body))
        #expect(run.status == 0, "\(run.output)")
        let parts = run.output.components(separatedBy: "\r\n\r\n")
        let head = parts[0].components(separatedBy: "\r\n")
        var found: [String: String] = [:]
        for line in head.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            found[parts[0].lowercased()] = parts.last?.trimmingCharacters(in: .whitespaces)
        }
        let status = head[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return Answer(
            status: try #require(status), headers: found, body: parts.dropFirst().joined(separator: "\r\n\r\n"))
    }

    @Test("writes items on conditions, reads them, queries them by pages, and changes several collections together")
    func items() async throws {
        let note = ["collection": "notes", "key": "milk"]
        let written = try await call("writeItem", note, ["If-None-Match": "*"], #"{"n":1}"#)
        let tag = try #require(written.headers["etag"])
        #expect(written.status == 204)
        #expect(try await call("writeItem", note, ["If-None-Match": "*"], #"{"n":2}"#).status == 412)
        #expect(try await call("writeItem", note, ["If-Match": tag], #"{"n":3}"#).status == 204)
        #expect(try await call("writeItem", note, ["If-Match": tag], #"{"n":4}"#).status == 412)
        let read = try await call("readItem", note)
        #expect(read.status == 200 && read.body == #"{"n":3}"#)
        let part = try await call("readItem", note, ["Range": "bytes=1-3"])
        #expect(part.status == 206 && part.body == #""n""#)
        #expect(try await call("readItem", note, ["If-None-Match": try #require(read.headers["etag"])]).status == 304)

        let operations = (10..<15).map { #"{"key":"\#($0)","value":{"n":\#($0)}}"# }.joined(separator: ",")
        let batch = """
            {"batches":[{"collection":"notes","operations":[\(operations)]},
            {"collection":"tags","operations":[{"key":"t","value":{"t":1}}]}]}
            """
        let applied = try await call("applyBatches", [:], [:], batch)
        try #require(applied.status == 200, "\(applied.body)")
        #expect(try await call("readItem", ["collection": "tags", "key": "t"]).body == #"{"t":1}"#)

        var (numbers, after) = ([Int](), String?.none)
        repeat {
            let place = after.map { #","after":"\#($0)""# } ?? ""
            let query = #"{"filter":"@.n > 3","order":[{"path":"n","descending":true}],"limit":2\#(place)}"#
            let answer = try await call("queryItems", ["collection": "notes"], [:], query)
            try #require(answer.status == 200, "\(answer.body)")
            let page = try answer.lines
            numbers += page.compactMap { ($0["value"] as? [String: Any])?["n"] as? Int }
            after = page.last?["next"] as? String
        } while after != nil
        #expect(numbers == [14, 13, 12, 11, 10])

        #expect(try await call("removeItem", note).status == 204)
        #expect(try await call("readItem", note).status == 404)
    }

    @Test("follows changes, and goes on where it was")
    func events() async throws {
        let cursor = try await call("readCursor", ["collection": "notes"]).lines[0]["cursor"] as? String
        for number in 0..<3 {
            _ = try await call("writeItem", ["collection": "notes", "key": "\(number)"], [:], "\(number)")
        }
        // The stream has no end, so curl is ended when it has what is waited for.
        let script = """
            wanted=$1 output=$2; shift 2
            curl --no-buffer "$@" > "$output" & client=$!
            until grep -q -- "$wanted" "$output" || ! kill -0 $client; do sleep 0.05; done
            kill -KILL $client; cat "$output"; rm "$output"
            """
        func follow(since last: String, to wanted: String) async throws -> String {
            let output = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
            let arguments = try arguments("followChanges", ["collection": "notes"], ["Last-Event-ID": last], nil)
            return try await ProgramRun("sh", ["-c", script, "sh", wanted, output] + arguments).output
        }
        let first = try await follow(since: try #require(cursor), to: #""key":"2""#)
        #expect(first.contains("event: changes") && (0..<3).allSatisfy { first.contains("\"key\":\"\($0)\"") })
        let last = first.components(separatedBy: "id: ").last?.components(separatedBy: "\n")[0]
        _ = try await call("writeItem", ["collection": "notes", "key": "new"], [:], "1")
        let second = try await follow(since: try #require(last), to: "new")
        #expect(second.contains("\"key\":\"new\"") && !second.contains("\"key\":\"2\""), "\(second)")
        #expect(try await follow(since: "of-another-server", to: "gap").contains("event: gap"))
    }

    @Test("reads no runs of spaces")
    func spaces() async throws {
        let text = try await ProgramRun("curl", ["--silent", "\(server.url)/v1/openapi.json"]).output
        func texts(_ value: Any) -> [String] {
            switch value {
            case let object as [String: Any]: object.values.flatMap(texts)
            case let list as [Any]: list.flatMap(texts)
            case let text as String: [text]
            default: []
            }
        }
        let all = texts(try JSONSerialization.jsonObject(with: Data(text.utf8)))
        #expect(all.count > 500)
        #expect(all.filter { $0.hasPrefix(" ") || $0.contains("  ") } == [])
    }
}
