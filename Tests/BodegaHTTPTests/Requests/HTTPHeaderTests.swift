import Bodega
@testable import BodegaHTTP
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Headers as servers send them: names in any case, values in any bytes, fields that occur several times.
@Suite struct HTTPHeaderTests {

    /// An engine on a response, byte for byte.
    private func engine(answering head: [[UInt8]], body: String = #"[{"id": "1"}]"#) async throws -> HTTPStorageEngine {
        var bytes: [UInt8] = []
        for line in head + [Array("Content-Length: \(body.utf8.count)".utf8), Array("Connection: close".utf8), []] {
            bytes += line + [13, 10]
        }
        return try await engine(answering: bytes + Array(body.utf8))
    }

    private func engine(answering bytes: [UInt8]) async throws -> HTTPStorageEngine {
        let hexadecimal = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return try HTTPStorageEngine(try await APIServer.shared.value.url("fault/raw", ["hex": hexadecimal]))
    }

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        (await #expect(throws: StorageError.self) { _ = try await body() })?.code
    }

    /// The next page is `/items/NAME`.
    private func pages(_ lines: [String], to name: String) -> [[UInt8]] {
        ["HTTP/1.1 200 OK"].map { Array($0.utf8) }
            + lines.map { Array($0.replacingOccurrences(of: "NEXT", with: "/items/\(name)").utf8) }
    }

    @Test(arguments: [
        ["Link: <NEXT>; rel=next", "link: <?page=0>; rel=first"],
        ["link: <?page=0>; rel=first", "Link: <NEXT>; rel=next"],
        ["LINK: </a>; rel=prev", "Link: <NEXT>; rel=next", "link: </b>; rel=last"],
        ["Link: <?a=1,2>; title=\"a, <b>; rel=next\"; rel=up", "link: <NEXT>; rel=\"prev next\""],
        ["Link:<NEXT>;rel=next"], ["Link:\t<NEXT>;\trel = \"next\" ,, \t"],
        ["Link: </a>; rel=up", "Link: <NEXT>; rel=next"], ["Link: <NEXT>;", " rel=next"],
        ["Link: <NEXT>; rel=next", "link: <NEXT>; rel=NEXT"],
    ])
    func `No page is lost, however the headers name it`(_ lines: [String]) async throws {
        let name = UUID().uuidString
        let second = try HTTPStorageEngine(try await APIServer.shared.value.url("items/\(name)"))
        try await second.write(Data(#"{"id": "2"}"#.utf8), key: CacheKey("2"))
        // Which of two headers a dictionary keeps is a matter of chance.
        for _ in 1...8 {
            let lines = lines.map { $0.replacingOccurrences(of: "rel=NEXT", with: "rel=next") }
            let engine = try await engine(answering: pages(lines, to: name))
            #expect(try await engine.fetchKeys() == [CacheKey("1"), CacheKey("2")])
        }
    }

    @Test(arguments: [
        "<NEXT; rel=next", "NEXT; rel=next", "<NEXT>; rel=\"next", "</a>; rel=up, x", "<NEXT> x; rel=next",
        "<NEXT>; rel=next, </a>; rel=next",
    ])
    func `Links that leave the next page open are an error, and a mirror keeps its items`(_ link: String) async throws {
        let engine = try await engine(answering: pages(["Link: \(link)"], to: "a"))
        #expect(await code { try await engine.fetchAll() } == .decodingFailed)
        let mirror = MemoryStorageEngine()
        try await mirror.write([(CacheKey("1"), Data("{}".utf8)), (CacheKey("2"), Data("{}".utf8))])
        #expect(await code { try await engine.mirrored(to: mirror).refresh() } == .decodingFailed)
        #expect(try await mirror.fetchKeys() == [CacheKey("1"), CacheKey("2")])
    }

    @Test(arguments: ["", ",", "</a>; rel=nextpage", "</a>; rel=up; rel=next", "</a>; rel=next; anchor=\"/other\""])
    func `Links of other relations and resources name no page`(_ link: String) async throws {
        #expect(try await engine(answering: pages(["Link: \(link)"], to: "a")).fetchKeys() == [CacheKey("1")])
    }

    @Test func `A mirror keeps the items of the second page when two headers differ in case`() async throws {
        let name = UUID().uuidString
        let second = try HTTPStorageEngine(try await APIServer.shared.value.url("items/\(name)"))
        try await second.write(Data(#"{"id": "2"}"#.utf8), key: CacheKey("2"))
        let engine = try await engine(
            answering: pages(["Link: <NEXT>; rel=next", "link: </a>; rel=last"], to: name))
        let mirrored = engine.mirrored(to: MemoryStorageEngine(), readingMirror: .first)
        for _ in 1...8 {
            try await mirrored.refresh()
            #expect(Set(try await mirrored.fetchKeys()) == [CacheKey("1"), CacheKey("2")])
        }
    }

    @Test func `Values in Latin-1, with tabs and after the body don't disturb a response`() async throws {
        let head = [
            Array("HTTP/1.1 200 OK".utf8), Array("X-Place: Z".utf8) + [0xFC] + Array("rich".utf8),
            Array("X-Tab:\ta\tb\t".utf8), Array("x-tab: c".utf8), Array("X-Empty:".utf8),
        ]
        #expect(try await engine(answering: head).fetchKeys() == [CacheKey("1")])
        let trailers = """
            HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=next\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r
            Connection: close\r\n\r\nd\r\n[{"id": "1"}]\r\n0\r\nLink: </a>; rel=next\r\n\r\n
            """
        #expect(try await engine(answering: Array(trailers.utf8)).fetchKeys() == [CacheKey("1")])
    }

    @Test func `Headers of one name are combined in their order`() {
        var head = ResponseHead()
        let lines = [
            "HTTP/1.1 100 Continue\r\n", "Retry-After: 9\r\n", "\r\n", "HTTP/2 200\r\n", "A: 1\r\n", "b:2\r\n",
            "a:  3 \r\n", "B:\r\n", "\t4\r\n", "\r\n", "A: trailer\r\n", "\r\n",
        ]
        #expect(lines.map { head.receive(Array($0.utf8)) }.filter { $0 }.count == 1)
        #expect(head.response.status == 200)
        #expect(head.response.header("a") == "1, 3")
        #expect(head.response.header("B") == "2,  4")
        #expect(head.response.header("Retry-After") == nil)
        let response = HTTPStorageResponse(status: 200, headers: ["link": "2", "LINK": "0", "Link": "1"])
        #expect(response.header("lINK") == "0, 1, 2")
    }

    // MARK: Dates

    /// The examples of RFC 9110, section 5.6.7, and others whose seconds are those of `date -u -d … +%s`.
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
            ("Wed Nov 16 08:49:37 1994", 784_975_777), ("Friday, 31-Dec-76 00:00:00 GMT", 220_838_400),
            ("Tuesday, 01-Jan-75 00:00:00 GMT", 3_313_526_400), ("Thursday, 01-Jan-76 00:00:00 GMT", 3_345_062_400),
            ("Saturday, 01-Jan-77 00:00:00 GMT", 220_924_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] as [(String, Double)])
    func `All three forms of a date are read`(_ text: String, _ seconds: Double) {
        // 2026-06-01; a year more than 50 years ahead is one of the past.
        let now = Date(timeIntervalSince1970: 1_780_272_000)
        #expect(HTTPDate.date(of: text, now: now)?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "", "0", "-1", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Son, 06 Nov 1994 08:49:37 GMT", "Sun, 06 November 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:38 GMT", "1994-11-06T08:49:37Z",
        "Sun, +6 Nov 1994 08:49:37 GMT",
    ])
    func `Other texts are no dates`(_ text: String) {
        #expect(HTTPDate.date(of: text) == nil)
    }

    @Test(arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func `The dates of an item can have any form`(_ text: String) async throws {
        let transport = Transport { _ in
            HTTPStorageResponse(status: 200, headers: ["last-modified": text], body: Data(#"{"id": "1"}"#.utf8))
        }
        let engine = try HTTPStorageEngine(try #require(URL(string: "http://localhost/notes")), transport: transport)
        let dates = try await engine.fetchDates(key: CacheKey("1"))
        #expect(dates?.updatedAt == Date(timeIntervalSince1970: 784_111_777))
    }

    @Test func `The time to wait can be a date by the server's clock`() {
        let now = Date(timeIntervalSince1970: 1_000)
        func wait(_ headers: [String: String]) -> Duration? {
            HTTPStatusError.retryAfter(of: HTTPStorageResponse(status: 503, headers: headers), now: now)
        }
        #expect(wait(["Retry-After": "7"]) == .seconds(7))
        #expect(wait(["Retry-After": "Thu, 01 Jan 1970 00:17:40 GMT"]) == .seconds(60))
        #expect(wait(["Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"]) == .zero)
        let date = "Sun, 06 Nov 1994 08:49:30 GMT"
        #expect(wait(["Retry-After": "Sunday, 06-Nov-94 08:49:37 GMT", "Date": date]) == .seconds(7))
        #expect(wait(["Retry-After": "1", "retry-after": "2"]) == nil)
        #expect(wait([:]) == nil)
    }
}
