import AsyncHTTPClient
import Bodega
import BodegaTesting
import Boutique
import Browsing
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTesting
import NIOCore
import NIOHTTP1
import Testing

@testable import Gallery

/// The archive, with few pictures and without a browser.
@MainActor
@Suite
struct ArchiveTests {
    let gallery = TestGallery()

    /// The pictures that the archive begins with.
    private nonisolated static let pictures = (0..<TestGallery.archiveSize).map(ArchivePicture.init)

    private func fill(_ archive: ArchiveController) async {
        await archive.open()
        for await _ in archive.progress.events {
            if case .filling = archive.state { continue }
            return
        }
    }

    @Test func `The archive is filled once, and a removed picture does not come back`() async throws {
        let archive = gallery.controllers().archive
        #expect(try await archive.pictures.fetchCount() == 0)
        await fill(archive)
        #expect(try await archive.pictures.fetchCount() == TestGallery.archiveSize)
        try await archive.remove("archive-7")

        let again = gallery.controllers().archive
        await fill(again)
        #expect(try await again.pictures.fetchCount() == TestGallery.archiveSize - 1)
    }

    @Test func `An archive that cannot be filled says so, and the next visit tries again`() async throws {
        gallery.archiveProgress.inject(
            .fail(.writes, .every, with: StorageError(.storageFull, "The <volume> is full.")))
        try await gallery.run { client, controllers in
            await fill(controllers.archive)
            // The page of the next visitor shows that filling has begun again.
            try await client.execute(uri: "/archive", method: .get) { response in
                #expect(response.status == .ok)
            }
            await fill(controllers.archive)
            let summary = await ArchiveSummary(filling: controllers.archive)
            #expect(summary.failure == "The <volume> is full.")
            let html = try await Templates().render(summary).summary
            #expect(html.contains("The &lt;volume&gt; is full."))
            gallery.archiveProgress.clearFaults()
            await fill(controllers.archive)
            try await client.execute(uri: "/archive", method: .get) { response in
                #expect(String(buffer: response.body).contains("<strong>300</strong> pictures"))
            }
        }
    }

    @Test func `A page shows the first pictures of its search, and the number of all`() async throws {
        try await gallery.run { client, controllers in
            await fill(controllers.archive)
            for title in ["", "l", "Lo", "lost r", "R LOST", "rain", "\u{E0}t d", "Zebra", "%_\"<&"] {
                for colour in [nil, ArchivePicture.Colour.blue] {
                    for order in ArchiveSearch.Order.allCases {
                        let search = ArchiveSearch(title: title, colour: colour, order: order)
                        let expected = Self.expected(search)
                        try await client.execute(uri: search.path, method: .get) { response in
                            let html = String(buffer: response.body)
                            #expect(Self.cards(html) == expected.prefix(24).map(\.id), "\(search)")
                            #expect(html.contains("<strong>\(expected.count)</strong> picture"), "\(search)")
                            #expect(html.contains("id=\"more\"") == (expected.count > 24), "\(search)")
                            #expect(html.contains("<mark>") == (search.title.contains(/[A-Za-z]/) && !expected.isEmpty))
                        }
                    }
                }
            }
        }
    }

    private nonisolated static func expected(_ search: ArchiveSearch) -> [ArchivePicture] {
        let matches = pictures.filter { picture in
            let (found, wanted) = (words(of: picture.title), words(of: search.title))
            return wanted.dropLast().allSatisfy(found.contains)
                && (wanted.last.map { last in found.contains { $0.hasPrefix(last) } } ?? true)
                && (search.colour == nil || picture.colour == search.colour)
        }
        // Equal pictures stay in the order in which they were created.
        return matches.enumerated().sorted { one, other in
            switch search.order {
            case .title: (one.element.sortTitle, one.offset) < (other.element.sortTitle, other.offset)
            case .newest: (other.element.paintedAt, one.offset) < (one.element.paintedAt, other.offset)
            case .liked: (other.element.likes, one.offset) < (one.element.likes, other.offset)
            }
        }.map(\.element)
    }

    private nonisolated static func words(of text: String) -> [String] {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            .components(separatedBy: CharacterSet.alphanumerics.inverted).filter { !$0.isEmpty }
    }

    /// The identifiers of the pictures in a text.
    private nonisolated static func cards(_ html: String) -> [String] {
        html.matches(of: /data-id="([^"]*)"/).map { String($0.1) }
    }

    @Test(arguments: [
        "/archive?title=%2B%26a+b&colour=teal&order=liked&shown=48", "/archive?shown=-1",
        "/archive?shown=99999999999999",
        "/archive?colour=pink&order=0", "/archive",
    ])
    func `The address of a search is parsed leniently, and written back`(_ address: String) async throws {
        let search = ArchiveSearch(URI(address))
        #expect(ArchiveSearch(URI(search.path)) == search)
        #expect(search.title == (address.contains("title") ? "+&a b" : ""))
        #expect((ArchiveSearch.pageSize...ArchiveSearch.limit).contains(search.shown))
        try await gallery.run { client, _ in
            var headers = RouteTests.ours
            headers[.referer] = "http://localhost\(address)"
            try await client.execute(uri: "/notice/dismiss", method: .post, headers: headers) { response in
                #expect(response.headers[.location] == search.path)
            }
        }
    }

    @Test func `Pictures are added, liked and removed with forms`() async throws {
        try await gallery.run { client, controllers in
            await fill(controllers.archive)
            for (path, body) in [
                ("/archive", "title=+Zebra%0A++Crossing+"), ("/archive", "title=+"), ("/archive/archive-3/like", ""),
                ("/archive/archive-4/remove", ""), ("/archive/archive-4/like", ""),
            ] {
                try await client.execute(
                    uri: path, method: .post, headers: RouteTests.ours, body: ByteBuffer(string: body)
                ) { response in #expect(response.status == .seeOther) }
            }
            let added = try await controllers.archive.pictures.fetch(ArchiveSearch(title: "zebra").query).objects
            #expect(added.map(\.title) == ["Zebra Crossing"])
            let liked = try await controllers.archive.pictures.fetchObject(forKey: ArchivePicture.key("archive-3"))
            #expect(liked?.likes == Self.pictures[3].likes + 1)
            #expect(try await controllers.archive.pictures.fetchCount() == TestGallery.archiveSize)
            #expect(await controllers.noticeboard.notice?.text == "This picture has been removed.")
        }
    }

    @Test func `Simultaneous likes all count`() async throws {
        let archive = gallery.controllers().archive
        await fill(archive)
        let likes = (0..<20).map { _ in Task { try await archive.like("archive-1") } }
        for like in likes { _ = try await like.value }
        let picture = try await archive.pictures.fetchObject(forKey: ArchivePicture.key("archive-1"))
        #expect(picture?.likes == Self.pictures[1].likes + 20)
    }

    // MARK: Events

    /// Reads the events of a page of a running gallery, until the body returns.
    private func listen(
        _ search: ArchiveSearch,
        _ body: @escaping @Sendable (inout Events, any TestClientProtocol, GalleryControllers) async throws -> Void
    ) async throws {
        try await gallery.run(StubAPI(), .live) { client, controllers in
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(client.port ?? 0)/archive/events")
            request.url += search.path.dropFirst("/archive".count)
            let response = try await http.execute(request, timeout: .seconds(180))
            var events = Events(response.body.makeAsyncIterator())
            try await body(&events, client, controllers)
        }
    }

    @Test func `The first page's events fill the archive, and then send each change of the window at its place`()
        async throws
    {
        try await listen(ArchiveSearch(title: "zebra")) { events, _, controllers in
            let archive = await controllers.archive
            try await events.wait(for: #"event: rows\#ndata: {"html":"","kind":"loaded"}"#)
            for (title, place) in [("Zebra B", 0), ("Zebra C", 1), ("Zebra A", 0)] {
                try await archive.add(title: title)
                try await events.wait(for: title)
                try await events.wait(for: #""at":\#(place)"#)
                try await events.wait(for: #""kind":"inserted""#)
                events.forget()
            }
            try await events.wait(for: "<strong>3</strong> pictures")
            // A picture that the window does not show.
            try await archive.add(title: "A Horse")
            let picture = try await archive.pictures.first(ArchiveSearch(title: "zebra c").query)
            _ = try await archive.like(picture?.object.id ?? "")
            try await events.wait(for: #""kind":"updated""#)
            #expect(!events.received.contains("A Horse"))
            #expect(events.received.contains("<mark>Zebra<"))
            try await archive.remove(picture?.object.id ?? "")
            try await events.wait(for: #"{"at":2,"kind":"removed"}"#)
            try await events.wait(for: "<strong>2</strong> pictures")
        }
    }

    @Test func `A liked picture moves in the order of likes`() async throws {
        try await listen(ArchiveSearch(order: .liked)) { events, _, controllers in
            try await events.wait(for: #""kind":"loaded""#)
            let expected = Self.expected(ArchiveSearch(order: .liked))
            var picture = expected[3]
            picture.likes = expected[0].likes + 1
            try await controllers.archive.pictures.store(picture, forKey: picture.key)
            try await events.wait(
                for: #"data: {"at":0,"from":3,"html":"<li class=\"card record\" data-key=\"\#(picture.id)\""#)
            try await events.wait(for: #""kind":"moved"}"#)
        }
    }

    @Test func `More pictures are shown in an open window`() async throws {
        try await listen(ArchiveSearch()) { events, client, controllers in
            try await events.wait(for: "event: window")
            try await events.wait(for: #""kind":"loaded""#)
            let window = try #require(await controllers.archive.windows.keys.first)
            var headers = RouteTests.ours
            headers[.prefer] = "return=minimal"
            try await client.execute(uri: "/archive/windows/\(window)/more", method: .post, headers: headers) {
                response in
                #expect(response.status == .noContent)
            }
            let expected = Self.expected(ArchiveSearch())
            for picture in expected.prefix(48) { try await events.wait(for: "data-id=\\\"\(picture.id)\\\"") }
            try await events.wait(for: "shown=72")
            #expect(!events.received.contains("data-id=\\\"\(expected[48].id)\\\""))
            try await client.execute(uri: "/archive/windows/none/more", method: .post, headers: headers) { response in
                #expect(response.status == .notFound)
            }
        }
    }

    @Test func `A window is released when the browser has gone`() async throws {
        try await gallery.run(StubAPI(), .live) { client, controllers in
            let url = "http://127.0.0.1:\(client.port ?? 0)/archive/events"
            let reading = Task {
                let response = try await http.execute(HTTPClientRequest(url: url), timeout: .seconds(180))
                for try await _ in response.body {}
            }
            let archive = await controllers.archive
            while await archive.windows.isEmpty { await Task.yield() }
            let window = await WeakWindow(archive.windows.values.first)
            #expect(await window.isThere)
            reading.cancel()
            while await !archive.windows.isEmpty { await Task.yield() }
            while await window.isThere { await Task.yield() }
        }
    }
}

/// A reference that does not keep a window.
@MainActor
private final class WeakWindow {
    private weak var window: LiveQuery<ArchivePicture>?

    init(_ window: LiveQuery<ArchivePicture>?) { self.window = window }

    var isThere: Bool { window != nil }
}
