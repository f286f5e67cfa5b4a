import Bodega
import BodegaTesting
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import Gallery

/// The responses of the routes, without a browser.
struct RouteTests {
    let gallery = TestGallery()

    /// The headers that a browser sends with a form of the gallery.
    static let ours: HTTPFields = [.origin: "http://localhost", .contentType: "application/x-www-form-urlencoded"]

    @Test func `A form redirects to the page that contained it, and a script gets no page`() async throws {
        try await gallery.run { client, _ in
            var headers = Self.ours
            try await client.execute(uri: "/notice/dismiss", method: .post, headers: headers) { response in
                #expect(response.status == .seeOther)
                #expect(response.headers[.location] == "/")
            }
            headers[.referer] = "http://localhost/favourites/stub-1"
            try await client.execute(uri: "/notice/dismiss", method: .post, headers: headers) { response in
                #expect(response.headers[.location] == "/favourites/stub-1")
            }
            for elsewhere in [
                "http://localhost//evil.example", "http://evil.example/favourites/a", "http://localhost/api/off",
            ] {
                headers[.referer] = elsewhere
                try await client.execute(uri: "/notice/dismiss", method: .post, headers: headers) { response in
                    #expect(response.headers[.location] == "/")
                }
            }
            headers[.prefer] = "return=minimal"
            try await client.execute(uri: "/notice/dismiss", method: .post, headers: headers) { response in
                #expect(response.status == .noContent)
            }
        }
    }

    @Test func `Texts of the API are escaped`() async throws {
        let evil = "\"><script>alert(1)</script>{{title}}&lt;"
        let api = StubAPI(
            description: StubAPI.description([
                "title": evil, "style": evil, "algorithm": evil, "palette": evil, "seed": evil,
            ]))
        try await gallery.run(api) { client, controllers in
            try await controllers.easel.showAnother(nil)
            await GalleryActions(controllers: controllers).addFavourite(id: "stub-1")
            for page in ["/", "/favourites/stub-1"] {
                try await client.execute(uri: page, method: .get) { response in
                    let html = String(buffer: response.body)
                    #expect(response.status == .ok)
                    #expect(!html.contains("<script>alert"))
                    #expect(!html.contains("\"><" + "script"))
                    #expect(html.contains("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;{{title}}&amp;lt;"))
                }
            }
        }
    }

    @Test func `The headers of an image make browsers treat it as an image only`() async throws {
        try await gallery.run { client, controllers in
            try await controllers.easel.showAnother(nil)
            let key = await controllers.easel.exhibit?.image.text ?? ""
            try await client.execute(uri: "/images/\(key)", method: .get) { response in
                #expect(response.status == .ok)
                #expect(response.headers[.contentType] == "image/svg+xml")
                #expect(response.headers[.xContentTypeOptions] == "nosniff")
                #expect(response.headers[.contentSecurityPolicy]?.contains("sandbox") == true)
                #expect(response.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
                #expect(response.headers[.cacheControl]?.contains("immutable") == true)
            }
        }
    }

    @Test(arguments: [
        "/nothing", "/favourites/none", "/favourites/..%2F..%2Fetc", "/favourites/A", "/images/none",
        "/images/00000000000000000000000000000000", "/assets/../../Package.swift",
        "/assets/..%2FTemplates%2Fhome.mustache",
        "/assets/home.mustache", "/%00",
    ])
    func `An unknown path gets a page that says so`(_ path: String) async throws {
        try await gallery.run { client, _ in
            try await client.execute(uri: path, method: .get) { response in
                #expect(response.status == .notFound)
                #expect(String(buffer: response.body).contains("Page not found"))
                #expect(response.headers[.contentSecurityPolicy] != nil)
            }
        }
    }

    @Test func `A method that a path does not support is refused with the supported ones`() async throws {
        let expectations: [(String, HTTPRequest.Method, String)] = [
            ("/", .post, "GET, HEAD"), ("/pictures/next", .get, "POST"), ("/favourites/a/remove", .delete, "POST"),
            ("/favourites/a", .put, "GET, HEAD, POST"), ("/events", .post, "GET, HEAD"), ("/api/off", .head, "POST"),
        ]
        try await gallery.run { client, _ in
            for (path, method, allowed) in expectations {
                try await client.execute(uri: path, method: method, headers: Self.ours) { response in
                    #expect(response.status == .methodNotAllowed, "\(method) \(path)")
                    #expect(response.headers[.allow] == allowed)
                }
            }
        }
    }

    @Test func `Pages and files support HEAD`() async throws {
        try await gallery.run { client, _ in
            for path in ["/", "/assets/gallery.css", "/assets/gallery.js", "/assets/icon.svg"] {
                try await client.execute(uri: path, method: .head) { response in
                    #expect(response.status == .ok)
                    #expect(response.body.readableBytes == 0)
                }
            }
        }
    }

    @Test func `Forms with invalid values are refused`() async throws {
        let long = String(repeating: "x", count: 20_000)
        let forms: [(String, String, HTTPResponse.Status)] = [
            ("/settings/theme", "theme=pink", .badRequest), ("/settings/theme", "", .badRequest),
            ("/settings/order", "order=0", .badRequest), ("/account/sign-in", "name=a", .badRequest),
            ("/account/sign-in", "name=a&password=\(long)", .contentTooLarge),
        ]
        try await gallery.run { client, _ in
            for (path, body, status) in forms {
                try await client.execute(
                    uri: path, method: .post, headers: Self.ours, body: ByteBuffer(string: body)
                ) { response in
                    #expect(response.status == status, "\(path) \(body.prefix(40))")
                    #expect(response.headers[.contentType] == "text/html; charset=utf-8")
                }
            }
            var json = Self.ours
            json[.contentType] = "application/json"
            try await client.execute(uri: "/api/check", method: .post, headers: json) { response in
                #expect(response.status == .unsupportedMediaType)
            }
        }
    }

    @Test func `A name with few characters but many bytes is refused`() async throws {
        let controllers = await gallery.controllers()
        let family = "👩‍👩‍👧‍👦"
        #expect(family.count == 1 && family.utf8.count == 25)
        await GalleryActions(controllers: controllers).signIn(
            name: String(repeating: family, count: 9), password: "easel")
        #expect(
            await controllers.noticeboard.notice?.text == "A name must have 1 to 40 characters and at most 200 bytes.")
    }

    @Test func `The page reports favourites that could not be loaded, and can load them again`() async throws {
        gallery.favourites.inject(
            .fail(.reads, .every, with: StorageError(.locked, "Another <process> has locked it.")))
        try await gallery.run { client, _ in
            try await client.execute(uri: "/", method: .get) { response in
                let html = String(buffer: response.body)
                #expect(html.contains("The favourites could not be loaded"))
                #expect(html.contains("Another &lt;process&gt; has locked it."))
                #expect(!html.contains("Nothing here yet"))
            }
            gallery.favourites.clearFaults()
            try await client.execute(uri: "/favourites/reload", method: .post, headers: Self.ours)
            try await client.execute(uri: "/", method: .get) { response in
                let html = String(buffer: response.body)
                #expect(!html.contains("could not be loaded"))
                #expect(html.contains("Nothing here yet"))
            }
        }
    }

    @Test func `Favourites that cannot be read are counted`() async throws {
        try await gallery.favourites.base.write(Data("{}".utf8), key: CacheKey("damaged"))
        try await gallery.run { client, _ in
            try await client.execute(uri: "/", method: .get) { response in
                #expect(String(buffer: response.body).contains("1 of the stored favourites cannot be read."))
            }
        }
    }

    @Test func `A failure of the storage gets an error page`() async throws {
        gallery.images.inject(.fail(.reads, .every, with: StorageError(.inputOutput, "The disk is on fire.")))
        try await gallery.run { client, _ in
            try await client.execute(uri: "/images/00000000000000000000000000000000", method: .get) { response in
                #expect(response.status == .internalServerError)
                let html = String(buffer: response.body)
                #expect(html.contains("Something went wrong"))
                #expect(!html.contains("fire"))
            }
        }
    }
}
