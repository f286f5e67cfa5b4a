import AsyncHTTPClient
import Browsing
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import NIOHTTP1
import Testing

@testable import Gallery
@testable import LocalServer

/// Protection against requests of other websites.
struct ProtectionTests {
    let gallery = TestGallery()

    @Test(
        arguments: [
            (["Origin": "http://localhost"], true),
            (["Sec-Fetch-Site": "same-origin"], true),
            (["Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"], true),
            ([:], false),
            (["Origin": "null"], false),
            (["Origin": "http://evil.example"], false),
            (["Origin": "https://localhost"], false),
            (["Origin": "http://localhost:3000"], false),
            (["Origin": "http://localhost.evil.example"], false),
            (["Sec-Fetch-Site": "same-site"], false),
            (["Sec-Fetch-Site": "cross-site"], false),
            (["Sec-Fetch-Site": "none"], false),
            (["Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example"], false),
            (["Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"], false),
        ] as [([String: String], Bool)])
    func `Only the gallery's own pages can make changes`(_ headers: [String: String], _ isAllowed: Bool) async throws {
        try await gallery.run { client, controllers in
            try await controllers.easel.showAnother(nil)
            var fields = HTTPFields()
            for (name, value) in headers {
                if let name = HTTPField.Name(name) { fields[name] = value }
            }
            try await client.execute(uri: "/favourites/stub-1", method: .post, headers: fields) { response in
                #expect(response.status == (isAllowed ? .seeOther : .forbidden))
            }
            #expect(await controllers.favourites.favourites.isEmpty == !isAllowed)
        }
    }

    @Test func `Requests of any origin may read pages`() async throws {
        try await gallery.run { client, _ in
            let headers: HTTPFields = [.secFetchSite: "cross-site", .origin: "http://evil.example"]
            try await client.execute(uri: "/", method: .get, headers: headers) { response in
                #expect(response.status == .ok)
            }
        }
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.0.0.1:8080", true), ("localhost:8080", true), ("LOCALHOST", true),
        ("[::1]:80", true),
        ("evil.example", false), ("evil.example:8080", false), ("127.0.0.1.evil.example", false), ("localhost.", false),
        ("localhost:80@evil.example", false), ("127.0.0.2", false), ("", false), ("localhost:x", false),
        ("0.0.0.0", false),
    ])
    func `Only names of this machine are accepted as hosts`(_ authority: String, _ isHere: Bool) {
        #expect(isThisMachine(authority) == isHere)
    }

    @Test func `A request under a foreign host name is refused`() async throws {
        try await gallery.run(StubAPI(), .live) { client, _ in
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(client.port ?? 0)/")
            request.headers.replaceOrAdd(name: "Host", value: "evil.example")
            let response = try await http.execute(request, timeout: .seconds(180))
            #expect(response.status == .misdirectedRequest)
            let page = String(buffer: try await response.body.collect(upTo: 100_000))
            #expect(!page.contains("easel-title"))
        }
        #expect(!isThisMachine(nil))
    }

    @Test func `Every page has the headers that restrict browsers`() async throws {
        try await gallery.run { client, _ in
            for path in ["/", "/nothing", "/assets/gallery.js"] {
                try await client.execute(uri: path, method: .get) { response in
                    let policy = response.headers[.contentSecurityPolicy] ?? ""
                    #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
                    #expect(!policy.contains("unsafe"))
                    #expect(response.headers[.xContentTypeOptions] == "nosniff")
                    #expect(response.headers[.referrerPolicy] == "same-origin")
                    #expect(response.headers[.crossOriginResourcePolicy] == "same-origin")
                }
            }
        }
    }

    @Test func `No description of a session contains its token`() {
        let session = Session(name: "Ada", token: "secret")
        for text in ["\(session)", String(reflecting: session), "\(Optional(session) as Any)", "\([session])"] {
            #expect(!text.contains("secret"))
        }
        var dumped = ""
        dump(session, to: &dumped)
        #expect(!dumped.contains("secret"))
    }
}
