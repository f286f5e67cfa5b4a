import Bodega
@testable import BodegaHTTP
import Foundation
import TestSupport
import Testing

/// Responses that are read while they arrive.
@Suite struct HTTPStreamTests {
    private static let partSize = 65_536
    private let mark = UUID().uuidString

    private func text(_ part: Data?) -> String? { part.map { String(decoding: $0, as: UTF8.self) } }

    // MARK: Progress

    @Test(arguments: HTTPClientKind.allCases)
    func `Progress is reported about once for 64 KiB`(_ kind: HTTPClientKind) async throws {
        let server = try await APIServer.shared.value
        let calls = Locked(0)
        for count in [0, 1, 20] {
            calls.withLock { $0 = 0 }
            var request = try server.request("stream/large", ["mark": UUID().uuidString, "parts": "\(count)"])
            request.maximumResponseBytes = 64 << 20
            request.onProgress = { calls.withLock { $0 += 1 } }
            for try await _ in try await kind.transport().open(request) {}
            let number = calls.withLock { $0 }
            // A client can pass on more at a time.
            #expect(number <= count && (count == 0 || number > 0), "\(count): \(number)")
        }
    }

    // MARK: Parts

    @Test(arguments: HTTPClientKind.allCases, [["status": "200"], ["gzip": "1"], ["status": "404"]])
    func `Each part arrives before the next is sent`(_ kind: HTTPClientKind, _ query: [String: String]) async throws {
        let server = try await APIServer.shared.value
        let request = try server.request("stream/steps", query.merging(["mark": mark, "parts": "10"]) { $1 })
        let stream = try await kind.transport().open(request)
        #expect(stream.head.status == Int(query["status"] ?? "200"))
        #expect(stream.head.header("content-type") == "text/event-stream")
        #expect(stream.head.body.isEmpty)
        var parts = stream.makeAsyncIterator()
        for number in 0..<10 {
            if number > 0 { try await server.advance(mark) }
            #expect(text(try await parts.next()) == "data: \(number)\n\n")
        }
        #expect(try await parts.next() == nil)
        #expect(try await parts.next() == nil)
    }

    @Test(arguments: HTTPClientKind.allCases, ["plain", "gzip"])
    func `A large body arrives completely, and a slow reader holds up the server`(
        _ kind: HTTPClientKind, _ form: String
    ) async throws {
        let server = try await APIServer.shared.value
        let count = kind.pauses ? 3_200 : 320
        var request = try server.request("stream/large", ["mark": mark, "parts": "\(count)", form: "1"])
        // All of it, for a client that can't pause.
        request.maximumResponseBytes = kind.pauses ? 0 : count * Self.partSize
        var (position, ahead, number, rest) = (0, 0, 0, Data())
        for try await part in try await kind.transport().open(request) {
            if kind.pauses, form == "plain", position == 0 || position >> 23 != (position + part.count) >> 23 {
                // The server could send everything while the reader waits for these responses.
                for _ in 0..<8 { ahead = max(ahead, try await server.progress(mark).sent - position) }
            }
            position += part.count
            rest.append(part)
            var start = rest.startIndex
            while rest.endIndex - start >= Self.partSize {
                let expected = Data(repeating: UInt8(number % 251), count: Self.partSize)
                try #require(rest[start..<start + Self.partSize] == expected)
                (start, number) = (start + Self.partSize, number + 1)
            }
            rest = Data(rest[start...])
        }
        #expect(rest.isEmpty)
        #expect(number == count)
        // 1 MiB at the client, and the buffers of the system for the connection.
        let buffers = try Self.maximumBuffers()
        #expect(ahead <= (1 << 20) + buffers)
        #expect(!kind.pauses || buffers < count * Self.partSize / 2)
    }

    /// The number of bytes that the system buffers at most for a connection of this machine with itself.
    private static func maximumBuffers() throws -> Int {
        #if os(Linux)
        try ["rmem", "wmem"].reduce(0) { sum, name in
            let limits = try String(contentsOfFile: "/proc/sys/net/ipv4/tcp_\(name)", encoding: .utf8)
            return try sum + #require(limits.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) })
        }
        #else
        16 << 20
        #endif
    }

    @Test(arguments: HTTPClientKind.allCases.filter { !$0.pauses })
    func `A client that can't pause ends a stream with a slow reader`(_ kind: HTTPClientKind) async throws {
        let server = try await APIServer.shared.value
        // Foundation takes what comes faster than it passes it on. So there is an end, far beyond that of the client.
        let path = "stream/flood"
        let stream = try await kind.transport().open(server.request(path, ["mark": mark, "MiB": "256"]))
        try await waitUntil("the connection was closed") { try await server.progress(mark).closed }
        let error = await #expect(throws: StorageError.self) { for try await _ in stream {} }
        #expect(error?.code == .tooLarge)
    }

    @Test @MainActor func `A stream of a transport with one method has one part`() async throws {
        for body in [Data(), Data("body".utf8)] {
            let transport = Transport { _ in HTTPStorageResponse(status: 404, headers: ["a": "b"], body: body) }
            let stream = try await transport.open(APIServer.shared.value.request("items"))
            #expect(stream.head.status == 404)
            #expect(stream.head.header("A") == "b")
            #expect(stream.head.body.isEmpty)
            var parts: [Data] = []
            for try await part in stream { parts.append(part) }
            #expect(parts == (body.isEmpty ? [] : [body]))
        }
    }

    // MARK: The end

    @Test(arguments: HTTPClientKind.allCases)
    func `A reader that stops closes the connection`(_ kind: HTTPClientKind) async throws {
        let server = try await APIServer.shared.value
        let transport = try kind.transport()
        for path in kind.pauses ? ["open", "flood"] : ["open"] {
            for end in ["break", "drop", "iterator"] {
                let mark = UUID().uuidString
                var stream: HTTPStorageStream? = try await transport.open(
                    server.request("stream/\(path)", ["mark": mark]))
                if end == "break" {
                    // The stream itself remains.
                    for try await _ in try #require(stream) { break }
                } else if end == "iterator" {
                    var parts = stream?.makeAsyncIterator()
                    stream = nil
                    #expect(try await parts?.next()?.isEmpty == false)
                    #expect(try await server.progress(mark).closed == false)
                    parts = nil
                } else {
                    stream = nil
                }
                try await waitUntil("\(path) ended by \(end)") { try await server.progress(mark).closed }
                guard var parts = stream?.makeAsyncIterator() else { continue }
                await #expect(throws: CancellationError.self) { _ = try await parts.next() }
            }
        }
    }

    @Test(arguments: HTTPClientKind.allCases)
    func `A cancelled reader closes the connection`(_ kind: HTTPClientKind) async throws {
        let server = try await APIServer.shared.value
        let transport = try kind.transport()
        for path in kind.pauses ? ["mute", "open", "flood"] : ["mute", "open"] {
            let mark = UUID().uuidString
            let request = try server.request("stream/\(path)", ["mark": mark])
            let hasRead = Locked(false)
            let task = Task {
                let stream = try await transport.open(request)
                for try await _ in stream { hasRead.withLock { $0 = true } }
            }
            try await waitUntil("the request arrived") {
                if path == "mute" { return try await !server.requests(containing: mark).isEmpty }
                return hasRead.withLock { $0 }
            }
            #expect(try await server.progress(mark).closed == false)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await waitUntil("\(path) was closed") { try await server.progress(mark).closed }
        }
    }

    @Test(arguments: HTTPClientKind.allCases, ["cut", "cutchunk"])
    func `A body that is cut is an error after its bytes`(_ kind: HTTPClientKind, _ path: String) async throws {
        let server = try await APIServer.shared.value
        let received = Locked(Data())
        let error = await #expect(throws: StorageError.self) {
            let stream = try await kind.transport().open(server.request("stream/\(path)", ["mark": mark]))
            for try await part in stream { received.withLock { $0 += part } }
        }
        #expect(error?.code == .unreachable)
        #expect(text(received.withLock { $0 })?.hasPrefix("data: 0\n\n") == true)
    }

    @Test(arguments: HTTPClientKind.allCases)
    func `A server that ends in the middle is an error`(_ kind: HTTPClientKind) async throws {
        let server = try await APIServer()
        let stream = try await kind.transport().open(server.request("stream/open", ["mark": mark]))
        var parts = stream.makeAsyncIterator()
        #expect(text(try await parts.next()) == "data: 0\n\n")
        try await server.end()
        let error = await #expect(throws: StorageError.self) { _ = try await parts.next() }
        #expect(error?.code == .unreachable)
    }

    // MARK: The time limit

    @Test(arguments: HTTPClientKind.allCases)
    func `A silent server exceeds the time limit`(_ kind: HTTPClientKind) async throws {
        let server = try await APIServer.shared.value
        let transport = try kind.transport()
        for path in ["mute", "open"] {
            let mark = UUID().uuidString
            let request = try server.request("stream/\(path)", ["mark": mark], timeLimit: .seconds(2))
            let received = Locked(Data())
            let error = await #expect(throws: StorageError.self) {
                for try await part in try await transport.open(request) { received.withLock { $0 += part } }
            }
            #expect(error?.code == .timedOut)
            #expect(error?.message.contains("The server sent nothing for") == true, "\(error as Any)")
            #expect(text(received.withLock { $0 }) == (path == "mute" ? "" : "data: 0\n\n"))
            try await waitUntil("\(path) was closed") { try await server.progress(mark).closed }
        }
    }

    @Test(arguments: HTTPClientKind.allCases)
    func `Neither a long stream nor a slow reader exceeds the time limit`(_ kind: HTTPClientKind) async throws {
        let server = try await APIServer.shared.value
        let transport = try kind.transport()
        let limit = Duration.seconds(4)
        let path = kind.pauses ? "flood" : "open"
        let flood = try await transport.open(
            server.request("stream/\(path)", ["mark": mark + "f"], timeLimit: kind.pauses ? limit : limit * 60))
        var paused = flood.makeAsyncIterator()
        let steps = try await transport.open(
            server.request("stream/steps", ["mark": mark, "parts": "1000000"], timeLimit: limit))
        var parts = steps.makeAsyncIterator()
        let end = ContinuousClock.now + limit * 2
        while ContinuousClock.now < end {
            #expect(try await parts.next()?.isEmpty == false)
            try await server.advance(mark)
        }
        for _ in 0..<(kind.pauses ? 100 : 1) { #expect(try await paused.next()?.isEmpty == false) }
    }

    // MARK: Connections

    @Test(arguments: HTTPClientKind.allCases)
    func `Open streams do not hold up requests`(_ kind: HTTPClientKind) async throws {
        let server = try await APIServer.shared.value
        let transport = try kind.transport(maximumConnections: 2)
        let marks = (0..<20).map { "\(mark)/\($0)" }
        var streams: [HTTPStorageStream] = []
        for mark in marks {
            streams.append(try await transport.open(server.request("stream/open", ["mark": mark])))
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                group.addTask { try await transport.send(server.request("items/\(mark)")).status }
            }
            for try await status in group { #expect(status == 200) }
        }
        for mark in marks { #expect(try await server.progress(mark).closed == false) }
        streams = []
        for mark in marks {
            try await waitUntil("a stream was closed") { try await server.progress(mark).closed }
        }
    }
}
