import Bodega
import BodegaTesting
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import Gallery

/// The pages and forms of albums, without a browser.
struct AlbumRouteTests {
    let gallery = TestGallery()

    /// Sends a form and returns the page that the response redirects to.
    @discardableResult
    private func post(
        _ client: any TestClientProtocol, _ path: String, _ form: String = "", from page: String = ""
    ) async throws -> String? {
        var headers = RouteTests.ours
        headers[.referer] = "http://localhost\(page)"
        return try await client.execute(
            uri: path, method: .post, headers: headers, body: ByteBuffer(string: form)
        ) { response in
            #expect(response.status == .seeOther, "\(path) \(form)")
            return response.headers[.location]
        }
    }

    private func html(_ path: String, _ client: any TestClientProtocol) async throws -> String {
        try await client.execute(uri: path, method: .get) { response in
            #expect(response.status == .ok, "\(path)")
            return String(buffer: response.body)
        }
    }

    private func notice(_ controllers: GalleryControllers) async -> String? {
        await controllers.noticeboard.notice?.text
    }

    @Test func `Albums are created, filled, emptied, removed and restored with forms`() async throws {
        try await gallery.run { client, controllers in
            for id in ["a", "b"] { _ = try await controllers.favourites.add(.stored(id, in: controllers.images)) }
            #expect(try await html("/", client).contains("No albums yet."))

            #expect(try await post(client, "/albums", "name=+Sea+%3Cside%3E+") == "/")
            #expect(await notice(controllers) == "The album “Sea <side>” has been created.")
            #expect(
                try await post(client, "/albums", "name=Second&favourite=a", from: "/favourites/a") == "/favourites/a")
            let albums = await controllers.albums.albums
            #expect(albums.map(\.name) == ["Sea <side>", "Second"])
            let sea = "/albums/\(albums[0].id)"

            for id in ["a", "b"] {
                let page = try await html("/favourites/\(id)", client)
                #expect(page.contains("action=\"\(sea)/favourites/\(id)\""))
                try await post(client, "\(sea)/favourites/\(id)")
                #expect(await notice(controllers) == "“Picture \(id)” is now in “Sea <side>”.")
                #expect(try await html("/favourites/\(id)", client).contains("\(sea)/favourites/\(id)/remove\""))
            }
            var page = try await html(sea, client)
            #expect(page.contains("Remove the album “Sea &lt;side&gt;”?"))
            #expect(page.contains("One of its 2 pictures is in another album, too, and stays a favourite."))
            #expect(page.contains("Remove the album only") && page.contains("Remove the album and one favourite"))

            #expect(try await post(client, "\(sea)/favourites/a/remove", from: sea) == sea)
            #expect(await notice(controllers) == "“Picture a” is no longer in “Sea <side>”.")
            page = try await html(sea, client)
            #expect(page.contains("Its picture is in no other album, but can stay a favourite."))

            // The page of the album is gone, so the redirect leads to the home page.
            #expect(try await post(client, "\(sea)/remove", "favourites=remove", from: sea) == "/")
            #expect(await notice(controllers) == "The album “Sea <side>” and one favourite were removed.")
            #expect(await controllers.favourites.favourites.map(\.id) == ["a"])
            try await client.execute(uri: sea, method: .get) { #expect($0.status == .notFound) }
            try await post(client, "/favourites/undo")
            #expect(await notice(controllers) == "The album “Sea <side>” and its favourite were restored.")

            try await post(client, "\(sea)/remove", "favourites=keep")
            #expect(await notice(controllers) == "The album “Sea <side>” was removed.")
            #expect(await controllers.favourites.favourites.count == 2)
            try await post(client, "\(sea)/remove", "favourites=keep")
            #expect(await notice(controllers) == "This album has already been removed.")
            try await post(client, "\(sea)/favourites/a")
            #expect(await notice(controllers) == "The favourite or the album has already been removed.")
        }
    }

    @Test func `An album is renamed, and keeps its favourites`() async throws {
        try await gallery.run { client, controllers in
            _ = try await controllers.favourites.add(.stored("a", in: controllers.images))
            let album = try #require(await controllers.albums.create(name: "Old", with: "a"))
            let page = "/albums/\(album.id)"
            #expect(try await post(client, "\(page)/name", "name=+New++%3Cname%3E", from: page) == page)
            #expect(await notice(controllers) == "The album “Old” is now called “New <name>”.")
            #expect(try await html(page, client).contains("value=\"New &lt;name&gt;\""))
            #expect(await controllers.albums.albums.map(\.favouriteIDs) == [["a"]])
            try await post(client, "\(page)/name", "name=")
            #expect(await notice(controllers) == "A name must have 1 to 60 characters and at most 200 bytes.")
            #expect(await controllers.albums.albums.map(\.name) == ["New <name>"])
            try await post(client, "/albums/none/name", "name=x")
            #expect(await notice(controllers) == "This album has already been removed.")
        }
    }

    @Test(
        arguments: [
            ("", "It is empty.", "Remove the album", nil),
            ("a", "Its picture is in no other album, but can stay a favourite.", "…only", "Remove the album and one"),
            ("ab", "Its 2 pictures are in no other album, but can stay favourites.", "…only", "Remove the album and 2"),
            ("x", "Its picture is in another album, too, and stays a favourite.", "Remove the album", nil),
            ("xy", "Its 2 pictures are in other albums, too, and stay favourites.", "Remove the album", nil),
            ("axb", "One of its 3 pictures is in another album, too, and stays a favourite.", "…only", "album and 2"),
            ("xay", "2 of its 3 pictures are in other albums, too, and stay favourites.", "…only", "album and one"),
        ] as [(String, String, String, String?)])
    func `The question names the consequences`(_ contents: String, _ text: String, _ one: String, _ both: String?)
        async throws
    {
        try await gallery.run { client, controllers in
            for id in ["a", "b", "x", "y"] {
                _ = try await controllers.favourites.add(.stored(id, in: controllers.images))
            }
            let other = try #require(await controllers.albums.create(name: "Other"))
            let album = try #require(await controllers.albums.create(name: "This"))
            for id in ["x", "y"] { _ = try await controllers.albums.add(id, to: other.id) }
            for id in contents.map(String.init) { _ = try await controllers.albums.add(id, to: album.id) }
            let page = try await html("/albums/\(album.id)", client)
            #expect(page.contains("\(text) You can undo this"))
            #expect(page.contains(one == "…only" ? ">Remove the album only<" : ">Remove the album<"))
            #expect(page.contains("id=\"remove-both\"") == (both != nil))
            if let both { #expect(page.contains(both)) }
        }
    }

    @Test func `Invalid forms and unknown albums are refused`() async throws {
        let forms: [(String, String, HTTPResponse.Status)] = [
            ("/albums", "", .badRequest), ("/albums/a/name", "", .badRequest), ("/albums/A/name", "name=x", .notFound),
            ("/albums/a/remove", "", .badRequest),
            ("/albums/a/remove", "favourites=all", .badRequest), ("/albums/A/remove", "favourites=keep", .notFound),
            ("/albums/a/favourites/..%2Fx", "", .notFound), ("/albums/A/favourites/x/remove", "", .notFound),
        ]
        try await gallery.run { client, controllers in
            for (path, form, status) in forms {
                try await client.execute(
                    uri: path, method: .post, headers: RouteTests.ours, body: ByteBuffer(string: form)
                ) { response in
                    #expect(response.status == status, "\(path) \(form)")
                }
            }
            for path in ["/albums/none", "/albums/A", "/albums/..%2Fx"] {
                try await client.execute(uri: path, method: .get) { #expect($0.status == .notFound) }
            }
            for name in ["", "+", String(repeating: "x", count: 61)] {
                try await post(client, "/albums", "name=\(name)")
                #expect(await notice(controllers) == "A name must have 1 to 60 characters and at most 200 bytes.")
            }
            #expect(await controllers.albums.albums.isEmpty)
        }
    }

    @Test func `The page reports albums that could not be loaded or read`() async throws {
        try await gallery.albums.base.write(Data("{}".utf8), key: CacheKey("damaged"))
        gallery.albums.inject(.fail(.reads, .every, with: StorageError(.locked, "Another <process> has locked it.")))
        try await gallery.run { client, _ in
            var page = try await html("/", client)
            #expect(page.contains("The albums could not be loaded"))
            #expect(page.contains("Another &lt;process&gt; has locked it."))
            #expect(!page.contains("No albums yet"))
            #expect(page.contains("Nothing here yet"))
            gallery.albums.clearFaults()
            try await post(client, "/favourites/reload")
            page = try await html("/", client)
            #expect(!page.contains("could not be loaded"))
            #expect(page.contains("1 of the stored albums cannot be read."))
        }
    }
}
