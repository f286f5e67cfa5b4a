import Bodega
import BodegaHTTP
import BodegaMessages
import Foundation
import RecordCoder

/// Sends the requests of a database, and reads their answers.
struct RemoteRequests: Sendable {
    let options: RemoteStorageOptions
    private let base: String
    private let transport: any HTTPStorageTransport
    private let token: @Sendable () async throws -> String?

    init(
        _ url: URL, _ options: RemoteStorageOptions, _ transport: any HTTPStorageTransport,
        _ token: @escaping @Sendable () async throws -> String?
    ) {
        let text = url.absoluteString
        base = (text.hasSuffix("/") ? text : text + "/") + "v1/"
        (self.options, self.transport, self.token) = (options, transport, token)
    }

    /// The path of a collection, or of a part of it.
    static func path(_ collection: String, _ part: String? = nil) -> String {
        "collections/\(encoded(collection))" + (part.map { "/" + $0 } ?? "")
    }

    /// The path of an item; `nil` if proxies and clients would change it, or it is very long.
    static func path(_ collection: String, _ key: CacheKey) -> String? {
        let identity = key.identity
        if identity.isEmpty || identity == "." || identity == ".." || identity.utf8.count > 500 { return nil }
        let kind = key.kind == .hashed ? "" : "?kind=\(key.kind.rawValue)"
        return path(collection, "items/\(encoded(identity))\(kind)")
    }

    /// A text as a segment of a path; see RFC 3986, section 2.3.
    private static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    // MARK: Sending

    /// What a request does to items, which decides whether it may be sent again.
    enum Effect {
        /// Nothing, or the same if it is carried out twice.
        case repeatable
        /// The same if it is carried out twice, unless others have written in between.
        case idempotentChange
        /// Another one, unless the server recognizes it by an idempotency key.
        case change(idempotencyKey: String?)

        var changesItems: Bool { if case .repeatable = self { false } else { true } }

        var isIdempotent: Bool { if case .change(nil) = self { false } else { true } }
    }

    /// Sends a request, and returns its response if it is a success, or says that an item does not exist.
    @discardableResult
    func send(
        _ method: HTTPStorageRequest.Method, _ path: String, _ message: (any JSONMember)? = nil, key: CacheKey? = nil,
        _ effect: Effect = .repeatable, timeLimit: Duration? = nil
    ) async throws -> HTTPStorageResponse {
        try await attempt(path, effect) {
            var request = try await request(
                method, path, message, isIdempotent: effect.isIdempotent, timeLimit: timeLimit)
            if case .change(let key?) = effect { request.headers["Idempotency-Key"] = "\"\(key)\"" }
            return try await reporting(key, changesItems: effect.changesItems) { [request] in
                let response = try await transport.send(request)
                return try check(response, request, key) { response }
            }
        }
    }

    /// Sends a request, and again after a temporary error if that does no harm.
    func attempt<Value>(
        _ path: String, _ effect: Effect = .repeatable, _ body: () async throws -> Value
    ) async throws -> Value {
        let policy = options.retryPolicy
        return try await policy.attempt(
            path,
            mayRetry: { error in
                // Nothing was done.
                let isRefusal = [.locked, .rateLimited].contains((error as? StorageError)?.code)
                return policy.shouldRetry(error) && (isRefusal || effect.isIdempotent)
            }, body)
    }

    /// Opens a stream of a response.
    func open(
        _ method: HTTPStorageRequest.Method, _ path: String, _ message: (any JSONMember)? = nil, key: CacheKey? = nil,
        headers: [String: String] = [:], timeLimit: Duration? = nil
    ) async throws -> HTTPStorageStream {
        var request = try await request(method, path, message, isIdempotent: true, timeLimit: timeLimit)
        request.headers.merge(headers) { $1 }
        return try await reporting(key) { [request] in
            let stream = try await transport.open(request)
            if (200..<300).contains(stream.head.status) { return stream }
            var body = Data()
            for try await part in stream where body.count < 1 << 16 { body += part }
            var response = stream.head
            response.body = body
            return try check(response, request, key) { stream }
        }
    }

    private func request(
        _ method: HTTPStorageRequest.Method, _ path: String, _ message: (any JSONMember)?, isIdempotent: Bool,
        timeLimit: Duration?
    ) async throws -> HTTPStorageRequest {
        try Task.checkCancellation()
        guard let url = URL(string: base + path) else {
            throw StorageError(.invalidArgument, "The address of the collection is not valid.")
        }
        var request = HTTPStorageRequest(
            method: method, url: url, maximumResponseBytes: options.maximumItemBytes,
            timeLimit: timeLimit ?? options.timeLimit)
        request.isIdempotent = isIdempotent
        request.onProgress = options.onProgress
        if let message {
            var bytes: [UInt8] = []
            message.encode(into: &bytes)
            request.body = Data(bytes)
            request.headers["Content-Type"] = "application/json"
        }
        if let token = try await token() {
            guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw StorageError(.invalidArgument, "The token has other characters than those of ASCII.")
            }
            request.headers["Authorization"] = "Bearer \(token)"
        }
        return request
    }

    /// Adds to an error what was asked for, and whether it may have been done.
    private func reporting<Value>(
        _ key: CacheKey?, changesItems: Bool = false, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            if Task.isCancelled { throw CancellationError() }
            guard var failure = error as? StorageError else {
                throw StorageError(.unreachable, "The request failed.", key: key, cause: error)
            }
            if changesItems, failure.code == .unreachable || failure.code == .timedOut,
                !(failure.cause is HTTPStatusError)
            {
                failure.message += " The server may have applied the change, or may do so later."
            }
            failure.key = failure.key ?? key
            throw failure
        }
    }

    private func check<Value>(
        _ response: HTTPStorageResponse, _ request: HTTPStorageRequest, _ key: CacheKey?, _ value: () -> Value
    ) throws -> Value {
        if (200..<300).contains(response.status) { return value() }
        let isProblem = response.header("Content-Type")?.hasPrefix("application/problem+json") ?? false
        guard isProblem, var error = try? StorageError(JSONPart(response.body)) else {
            let failure = StorageError(response, to: request, key: key)
            // The server gives its reason with these. Something between it and this machine has answered.
            guard [.refused, .decodingFailed, .permissionDenied].contains(failure.code) else { throw failure }
            throw StorageError(
                .unreachable, Self.otherAnswer + "HTTP status \(response.status).", key: key, cause: failure.cause)
        }
        if error.code.rawValue == "noItem" { return value() }
        if error.code.rawValue == "notFound" {
            throw StorageError(
                .cannotOpen,
                """
                The server has no such collection for this client. Check its name and the rights of the token. A \
                client can't create a collection: create it where the server runs, for example with bodega import \
                STORE#NAME /dev/null --key id.
                """)
        }
        error.cause = HTTPStatusError(response)
        error.retryAfter = error.retryAfter ?? HTTPStatusError(response).retryAfter
        throw error
    }

    // MARK: Reading answers

    /// Whether the response to a request for an item has one. If not, it says that there is none.
    func hasItem(_ response: HTTPStorageResponse) throws -> Bool {
        if response.status == 404 { return false }
        // The server always adds a tag. The page of a network that wants a login looks like an item otherwise.
        guard response.status == 200, response.header("ETag") != nil else {
            throw StorageError(.unreachable, Self.otherAnswer + "HTTP status \(response.status), without an ETag.")
        }
        return true
    }

    /// Sends a request, and returns the JSON of its response.
    func json(
        _ method: HTTPStorageRequest.Method, _ path: String, _ message: (any JSONMember)? = nil,
        _ effect: Effect = .repeatable
    ) async throws -> JSONPart {
        let response = try await send(method, path, message, effect)
        return try read { try JSONPart(response.body) }
    }

    /// Reads a part of an answer, whose errors are those of the server.
    func read<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as StorageError where error.code == .invalidArgument {
            throw StorageError(.unreachable, Self.otherAnswer + error.message)
        }
    }

    /// The start of the message for an answer that is not one of the protocol, as a proxy or the page of a hotel's
    /// network can send it. It does not show what the server has done.
    private static let otherAnswer = "Something between this machine and the server has answered instead. "

    /// The error of a line that should be an item.
    static let isNoItem = StorageError(.unreachable, otherAnswer + "A line of the answer is not an item.")

    /// Receives a line, and returns whether more lines are wanted.
    typealias LineReceiver = (RemoteLine) throws -> Bool

    /// Sends a request, and passes on the lines of its answer while they arrive.
    ///
    /// - Parameter begin: Called before the first line, and again if the request is sent again.
    /// - Throws: An error if the answer ends without its last line.
    func lines(_ path: String, _ message: any JSONMember, _ begin: () throws -> LineReceiver) async throws {
        do {
            try await attempt(path) { try await passLines(path, message, failingBy { try begin() }) }
        } catch let failure as ReceiverFailure {
            throw failure.cause
        }
    }

    /// The error of the receiver of lines, which is not one of the server.
    private struct ReceiverFailure: Error {
        let cause: any Error
    }

    private func failingBy<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw ReceiverFailure(cause: error) }
    }

    private func passLines(_ path: String, _ message: any JSONMember, _ receive: LineReceiver) async throws {
        let stream = try await open(.post, path, message)
        var lines = LineBuffer()
        do {
            for try await part in stream {
                lines.append(part)
                while let line = lines.next() {
                    let line = try read { try RemoteLine(line) }
                    if case .sign(let members) = line, let error = members["error"] {
                        throw try read { try StorageError(error) }
                    }
                    guard try failingBy({ try receive(line) }) else { return }
                    if case .sign(let members) = line, members["end"] != nil { return }
                }
            }
        } catch {
            if Task.isCancelled, !(error is ReceiverFailure) { throw CancellationError() }
            throw error
        }
        throw StorageError(.unreachable, "The answer of the server was cut off.")
    }
}

/// A line of an answer.
enum RemoteLine {
    /// An item, and the number of its scan.
    case item(StorageItem, scan: Int)
    /// Something else than an item, such as a change.
    case other(JSONMembers)
    /// The last line, an error, or that the answer begins again.
    case sign(JSONMembers)

    /// - Throws: ``/Bodega/StorageError/Code/invalidArgument`` if it is not a line of the protocol.
    init(_ line: Data) throws {
        let isSign = line.withUnsafeBytes { bytes in Self.beginningsOfSigns.contains { bytes.starts(with: $0) } }
        if isSign {
            self = .sign(try JSONPart(line).members())
        } else if let (scan, item) = try StorageItem.read(line) {
            self = .item(item, scan: scan)
        } else {
            self = .other(try JSONPart(line).members())
        }
    }

    private static let beginningsOfSigns = [#"{"end":"#, #"{"error":"#, #"{"restart":"#].map { Array($0.utf8) }
}

/// Divides bytes into lines.
struct LineBuffer {
    private var bytes = Data()

    /// Appends bytes. Those of lines that were taken are released.
    mutating func append(_ data: Data) { bytes = bytes.isEmpty ? data : Data(bytes) + data }

    /// The next whole line, without its end.
    mutating func next() -> Data? {
        let count = bytes.withUnsafeBytes { bytes -> Int? in
            guard let start = bytes.baseAddress, let end = memchr(start, 0x0A, bytes.count) else { return nil }
            return UnsafeRawPointer(end) - start
        }
        guard let count else { return nil }
        let end = bytes.startIndex + count
        defer { bytes = bytes[(end + 1)...] }
        return bytes[..<end]
    }
}
