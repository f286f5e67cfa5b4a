import Bodega
import BodegaHTTP
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// The time after which a server wants to be called again: RFC 9110, 10.2.3, a number of seconds or a date (5.6.7).
@Suite struct RetryAfterTests {
    /// The values of the header, with the seconds that a client has to wait at Sun, 06 Nov 1994 08:49:37 GMT.
    static let values: [(value: String, seconds: Int?)] = [
        // The examples of the RFC.
        ("120", 120), ("Fri, 31 Dec 1999 23:59:59 GMT", 162_573_022),
        ("0", 0), ("007", 7), ("4294967295", 4_294_967_295), ("99999999999999999999999", 4_294_967_295),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:50:07 GMT", 30),
        // A date that has passed.
        ("Sun, 06 Nov 1994 08:49:36 GMT", 0),
        // Neither.
        ("", nil), ("-1", nil), ("+5", nil), ("1.5", nil), ("soon", nil), ("5 seconds", nil), ("٣", nil),
    ]

    @Test(arguments: values) func `The value of the header is the time to wait`(
        _ value: String, _ seconds: Int?
    ) async throws {
        for status in [429, 503] {
            let engine = try engine([(status, ["Retry-After": value, "Date": "Sun, 06 Nov 1994 08:49:37 GMT"])])
            let error = await #expect(throws: StorageError.self) { try await engine.fetch(key: CacheKey("1")) }
            #expect(error?.retryAfter == seconds.map { .seconds($0) })
            #expect((error?.cause as? HTTPStatusError)?.retryAfter == error?.retryAfter)
        }
    }

    @Test func `A retrying engine waits as long as the server asks`() async throws {
        let clock = InstantClock()
        let engine = try engine([(503, ["Retry-After": "17"]), (429, ["Retry-After": "3"]), (200, [:])])
            .retrying(clock: clock)
        #expect(try await engine.fetch(key: CacheKey("1")) != nil)
        let delays = clock.delays.withLock { $0 }
        #expect(delays.count == 2)
        #expect(delays[0] >= .seconds(17) && delays[0] < .seconds(18))
        #expect(delays[1] >= .seconds(3) && delays[1] < .seconds(4))
    }

    private func engine(_ responses: [(Int, [String: String])]) throws -> HTTPStorageEngine {
        let url = try #require(URL(string: "http://127.0.0.1/notes"))
        return try HTTPStorageEngine(url, transport: Script(responses: Locked(responses)))
    }
}

/// Answers with prepared responses, the last one again and again.
private struct Script: HTTPStorageTransport {
    let responses: Locked<[(Int, [String: String])]>

    func send(_ request: HTTPStorageRequest) async throws -> HTTPStorageResponse {
        let (status, headers) = responses.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        return HTTPStorageResponse(status: status, headers: headers, body: Data(#"{"id": "1"}"#.utf8))
    }
}
