#if canImport(Glibc) || canImport(Musl)
import Bodega
import CCurlLibrary
import Foundation

/// A request that libcurl sends, on the thread of a client.
final class CurlTransfer {
    let exchange: HTTPExchange
    /// The transfer of libcurl.
    let easy: UnsafeMutableRawPointer

    private var head = ResponseHead()
    private var headers: UnsafeMutableRawPointer?
    /// The body of the request. libcurl reads it where it is, also when it sends it again.
    private let body: UnsafeMutableBufferPointer<UInt8>

    init?(_ exchange: HTTPExchange) {
        guard let easy = emporium_curl_easy_init() else { return nil }
        (self.exchange, self.easy) = (exchange, easy)
        let request = exchange.request
        let count = request.body?.count ?? 0
        // Not empty, because libcurl would take a null pointer for a missing body.
        body = .allocate(capacity: count + 1)
        _ = request.body?.copyBytes(to: body)
        set(EMPORIUM_CURL_NO_SIGNALS, 1)
        set(EMPORIUM_CURL_HIDES_PROXY_HEADERS, 1)
        set(EMPORIUM_CURL_PROTOCOLS, Int(EMPORIUM_CURL_HTTP_AND_HTTPS))
        set(EMPORIUM_CURL_URL, request.url.absoluteString)
        set(EMPORIUM_CURL_METHOD, request.method.rawValue)
        // All that it can decompress.
        set(EMPORIUM_CURL_ENCODINGS, "")
        if exchange.isStream {
            // With HTTP/2, libcurl goes on receiving and buffers up to 32 MiB of a paused transfer.
            set(EMPORIUM_CURL_HTTP_VERSION, Int(EMPORIUM_CURL_HTTP_1_1))
            // Each part needs a call of the system, and the default is half as much. With more, the content of a part
            // that gzip has made a thousand times smaller would not fit into what libcurl keeps of a paused transfer.
            set(EMPORIUM_CURL_BUFFER_SIZE, 32 << 10)
        }
        if !request.isIdempotent {
            // On a reused connection, libcurl would send the request again if the connection ends.
            set(EMPORIUM_CURL_FRESH_CONNECTION, 1)
        }
        if request.method == .head {
            set(EMPORIUM_CURL_NO_BODY, 1)
        } else if request.body != nil || request.method == .post {
            emporium_curl_set_size(easy, EMPORIUM_CURL_BODY_SIZE, Int64(count))
            emporium_curl_set_pointer(easy, EMPORIUM_CURL_BODY, body.baseAddress)
        }
        setHeaders(request)
        let user = Unmanaged.passUnretained(self).toOpaque()
        emporium_curl_set_pointer(easy, EMPORIUM_CURL_HEADER_SINK_DATA, user)
        emporium_curl_set_sink(easy, EMPORIUM_CURL_HEADER_SINK) { bytes, size, count, user in
            CurlTransfer.receive(bytes, size * count, user) { $0.receive(line: $1) ? $1.count : 0 }
        }
        emporium_curl_set_pointer(easy, EMPORIUM_CURL_SINK_DATA, user)
        emporium_curl_set_sink(easy, EMPORIUM_CURL_SINK) { bytes, size, count, user in
            CurlTransfer.receive(bytes, size * count, user) { transfer, bytes in
                // libcurl keeps the bytes until the transfer is resumed.
                if transfer.exchange.pauseIfFull() { return EMPORIUM_CURL_PAUSE }
                return transfer.exchange.receive(bytes) ? bytes.count : 0
            }
        }
        if count > 0 { reportSentBytes(to: user) }
    }

    private func reportSentBytes(to user: UnsafeMutableRawPointer) {
        emporium_curl_set_pointer(easy, EMPORIUM_CURL_METER_DATA, user)
        emporium_curl_set_meter(easy, EMPORIUM_CURL_METER) { user, _, _, _, sent in
            guard let user else { return 0 }
            Unmanaged<CurlTransfer>.fromOpaque(user).takeUnretainedValue().exchange.send(totalBytes: Int(sent))
            return 0
        }
        set(EMPORIUM_CURL_HAS_NO_METER, 0)
    }

    deinit {
        emporium_curl_easy_cleanup(easy)
        emporium_curl_list_free(headers)
        body.deallocate()
    }

    private func set(_ option: Int32, _ value: Int) { emporium_curl_set_number(easy, option, value) }

    /// Sets a text, of which libcurl makes a copy.
    private func set(_ option: Int32, _ value: String) {
        _ = value.withCString { emporium_curl_set_pointer(easy, option, $0) }
    }

    private func setHeaders(_ request: HTTPStorageRequest) {
        // libcurl would wait for a permission before it sends a large body, and would name a type of its own.
        var lines = ["Expect:"]
        let names = Set(request.headers.keys.map { $0.lowercased() })
        if !names.contains("content-type") { lines.append("Content-Type:") }
        if !names.contains("user-agent") { lines.append("User-Agent: Emporium") }
        // A line that ends with a colon would remove the header, and one with a semicolon sends it without a value.
        lines += request.headers.map { name, value in value.isEmpty ? "\(name);" : "\(name): \(value)" }
        for line in lines { headers = emporium_curl_list_append(headers, line) }
        emporium_curl_set_pointer(easy, EMPORIUM_CURL_HEADERS, headers)
    }

    private func receive(line: UnsafeRawBufferPointer) -> Bool {
        guard head.receive(line) else { return exchange.isWaiting }
        return exchange.receive(head.response, length: head.length)
    }

    /// Passes bytes to a transfer. Returns their number, `EMPORIUM_CURL_PAUSE` to pause it, or 0 to end it.
    private static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ user: UnsafeMutableRawPointer?,
        _ body: (CurlTransfer, UnsafeRawBufferPointer) -> Int
    ) -> Int {
        guard let user else { return 0 }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(user).takeUnretainedValue()
        return body(transfer, UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// Ends the exchange with a result of libcurl.
    func finish(_ result: Int32) {
        if result == 0 { return exchange.complete() }
        exchange.fail(StorageError(curl: result))
    }
}

/// A result of libcurl, with its description, which contains nothing of the request.
private struct CurlFailure: Error, CustomStringConvertible {
    let code: Int32

    var description: String {
        "libcurl \(code)" + (emporium_curl_description(code).map { ": \(String(cString: $0))" } ?? "")
    }
}

extension StorageError {
    /// The results of libcurl that concern TLS and its certificates.
    private static let insecureResults: Set<Int32> = [35, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98]

    fileprivate init(curl code: Int32) {
        let cause = CurlFailure(code: code)
        if code == EMPORIUM_CURL_TIMED_OUT {
            self.init(.timedOut, "The server did not respond in time.", cause: cause)
        } else if Self.insecureResults.contains(code) {
            self.init(.cannotOpen, "No secure connection to the server is possible.", cause: cause)
        } else {
            self.init(.unreachable, "The server can't be reached, or the connection was lost.", cause: cause)
        }
    }
}
#endif
