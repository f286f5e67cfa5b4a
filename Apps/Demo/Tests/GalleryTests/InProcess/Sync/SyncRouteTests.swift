import Bodega
import BodegaSync
import BodegaTesting
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import Gallery

/// The pages and forms of a gallery that is synchronized, without a browser.
struct SyncRouteTests {

    /// Runs a body with a client of the phone's routes.
    private func run(
        _ galleries: SyncedGalleries, _ body: @escaping @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        let routes = GalleryRoutes(galleries.phone, templates: try await Templates())
        let application = Application(responder: await routes.router().buildResponder())
        try await application.test(.router) { client in try await body(client) }
    }

    private func html(
        _ path: String, _ client: any TestClientProtocol, _ status: HTTPResponse.Status = .ok
    ) async throws -> String {
        try await client.execute(uri: path, method: .get) { response in
            #expect(response.status == status, "\(path)")
            return String(buffer: response.body)
        }
    }

    private func post(
        _ client: any TestClientProtocol, _ path: String, _ form: String = "",
        _ status: HTTPResponse.Status = .seeOther
    ) async throws {
        var headers = RouteTests.ours
        headers[.referer] = "http://localhost/conflicts"
        try await client.execute(
            uri: path, method: .post, headers: headers, body: ByteBuffer(string: form)
        ) { response in
            #expect(response.status == status, "\(path) \(form)")
            if status == .seeOther { #expect(response.headers[.location] == "/conflicts") }
        }
    }

    /// Makes a conflict about the names of an album, which the phone reports.
    @MainActor
    private func makeConflict(_ galleries: SyncedGalleries) async throws {
        try await galleries.begin()
        let album = try #require(await galleries.laptop.albums.create(name: "Old"))
        try await galleries.settle()
        try await galleries.setOn(false)
        _ = try await galleries.laptop.albums.rename(album.id, to: "<Laptop>")
        _ = try await galleries.phone.albums.rename(album.id, to: "<Phone>")
        try await galleries.settleOneByOne()
        await galleries.wait { _, phone in phone.sync?.conflicts.isEmpty == false }
    }

    @Test func `Each page shows the device, the state and the switch`() async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        try await run(galleries) { client in
            for path in ["/", "/conflicts", "/archive"] {
                let page = try await html(path, client)
                #expect(page.contains("<strong id=\"device\">Phone</strong>"))
                #expect(page.contains(">Everything is up to date<"))
                #expect(page.contains("action=\"/sync/off\""))
                #expect(page.contains("· Phone</title>"))
            }
            #expect(try await html("/nothing", client, .notFound).contains("Everything is up to date"))
            #expect(try await html("/conflicts", client).contains("There is nothing to decide."))
            try await post(client, "/sync/off")
            await galleries.wait { _, phone in phone.sync?.status.isPaused == true }
            var page = try await html("/", client)
            #expect(page.contains(">Switched off<") && page.contains("action=\"/sync/on\""))
            try await post(client, "/sync/on")
            try await galleries.settle()
            page = try await html("/", client)
            #expect(page.contains(">Everything is up to date<") && page.contains("aria-checked=\"true\""))
        }
    }

    @Test(arguments: ["keep", "use"])
    func `Both versions are shown side by side, until the user has decided`(_ decision: String) async throws {
        let galleries = try await SyncedGalleries()
        try await makeConflict(galleries)
        try await run(galleries) { client in
            #expect(try await html("/", client).contains(">1 conflict</a>"))
            let page = try await html("/conflicts", client)
            let names = page.matches(of: #/<mark>([^<]*)</mark>/#).map { String($0.1) }
            #expect(names == ["&lt;Phone&gt;", "&lt;Laptop&gt;", "&lt;Phone&gt;"])
            #expect(page.contains("Both devices have renamed this album."))
            // The version that is shown need not be taken.
            #expect(page.matches(of: #/value="(local|remote)"/#).map { String($0.1) } == ["remote"])
            let id = try #require(page.firstMatch(of: #/conflicts/([0-9A-F-]{36})/keep/#)).1
            for path in ["/conflicts/x/keep", "/conflicts/x/use"] {
                try await post(client, path, "version=remote", .notFound)
            }
            try await post(client, "/conflicts/\(id)/use", "version=base", .badRequest)
            try await post(client, "/conflicts/\(id)/\(decision)", decision == "use" ? "version=remote" : "")
            try await galleries.settle()
            let name = decision == "use" ? "<Laptop>" : "<Phone>"
            #expect(await galleries.shownAlbums == [["\(name): "], ["\(name): "]])
            #expect(try await html("/conflicts", client).contains("There is nothing to decide."))
            #expect(try await !html("/", client).contains("conflict</a>"))
            try await post(client, "/conflicts/\(id)/\(decision)", decision == "use" ? "version=remote" : "")
            #expect(await galleries.phone.noticeboard.notice?.text == "This conflict has already been settled.")
        }
    }

    @Test func `Refused changes are listed with their reason, and are sent again or given up`() async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        try await run(galleries) { client in
            let albums = try #require(await galleries.server[Album.collection])
            for path in ["/sync/retry", "/sync/discard"] {
                albums.inject(.fail(.writes, .every, with: StorageError(.invalidArgument, "You <may> not.")))
                _ = try await galleries.phone.albums.create(name: path)
                await galleries.wait { _, phone in phone.sync?.refusals.count == 1 }
                #expect(try await html("/", client).contains(">1 change was refused<"))
                #expect(try await html("/conflicts", client).contains("An album: You &lt;may&gt; not."))
                albums.clearFaults()
                try await post(client, path)
                try await galleries.settle()
                #expect(try await html("/conflicts", client).contains("There is nothing to decide."))
                #expect(await galleries.laptop.shownAlbums == ["/sync/retry: "])
            }
        }
    }

    @Test func `An image that is not there yet is shown as a placeholder, and any other one is missing`() async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        let images = try #require(await galleries.server[SyncedCollections.images])
        images.inject(.fail(.writes, .every, with: StorageError(.invalidArgument, "No images.")))
        try await galleries.add("a", galleries.laptop)
        await galleries.wait { laptop, phone in
            !phone.favourites.favourites.isEmpty && laptop.sync?.refusals.count == 1
        }
        #expect(await galleries.laptop.sync?.waiting == 0)
        let key = try #require(await galleries.phone.favourites.favourites.first).image.text
        try await run(galleries) { client in
            #expect(try await html("/", client).contains("/images/\(key)"))
            try await client.execute(uri: "/images/\(key)", method: .get) { response in
                #expect(response.status == .ok)
                #expect(response.headers[.cacheControl] == "no-store")
                // The script recognizes it by its width.
                #expect(String(buffer: response.body).contains("width=\"4\""))
            }
            _ = try await html("/images/\(ImageKey().text)", client, .notFound)
            images.clearFaults()
            try await galleries.laptop.sync?.retryRefusals()
            await galleries.wait { laptop, phone in laptop.sync?.refusals.isEmpty == true }
            let image = try #require(ImageKey(key))
            while try await galleries.phone.images.data(image) == nil { await Task.yield() }
            #expect(try await html("/images/\(key)", client) == "<svg>a</svg>")
        }
    }

    @Test func `A gallery that is not synchronized has none of this`() async throws {
        try await TestGallery().run { client, _ in
            #expect(try await !html("/", client).contains("id=\"sync\""))
            _ = try await html("/conflicts", client, .notFound)
            try await post(client, "/sync/on", "", .notFound)
            _ = try await html("/images/\(ImageKey().text)", client, .notFound)
        }
    }
}
