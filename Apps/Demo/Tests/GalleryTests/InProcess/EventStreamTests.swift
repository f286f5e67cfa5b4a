import AsyncHTTPClient
import Browsing
import HummingbirdTesting
import NIOCore
import NIOHTTP1
import Testing

@testable import Gallery

/// The events that a page receives.
@Suite
struct EventStreamTests {
    let gallery = TestGallery()

    /// Reads the events of a running gallery.
    private func listen(
        _ body: @escaping @Sendable (inout Events, GalleryControllers) async throws -> Void
    ) async throws {
        try await gallery.run(StubAPI(), .live) { client, controllers in
            let request = HTTPClientRequest(url: "http://127.0.0.1:\(client.port ?? 0)/events")
            let response = try await http.execute(request, timeout: .seconds(180))
            #expect(response.headers.first(name: "Content-Type") == "text/event-stream; charset=utf-8")
            var events = Events(response.body.makeAsyncIterator())
            try await body(&events, controllers)
        }
    }

    @Test func `The stream begins with all kinds of change and then sends each change`() async throws {
        try await listen { events, controllers in
            try await events.wait(for: "retry: 1000\n\n")
            for change in [Change.favourites, .albums, .easel, .account, .preferences, .availability, .notice] {
                try await events.wait(for: "event: change\ndata: \(change.rawValue)\n\n")
            }
            let exhibit = try await Exhibit.stored("a", in: controllers.images)
            events.forget()
            _ = try await controllers.favourites.add(exhibit)
            try await events.wait(for: "event: change\ndata: favourites\n\n")
            _ = try await controllers.albums.create(name: "Winter")
            try await events.wait(for: "event: change\ndata: albums\n\n")
            await controllers.noticeboard.show("Look!")
            try await events.wait(for: "event: change\ndata: notice\n\n")
        }
    }

    @Test func `Without changes the stream sends heartbeats`() async throws {
        try await listen { events, _ in
            try await events.wait(for: ":\n\n")
            events.forget()
            try await events.wait(for: ":\n\n:\n\n")
        }
    }

    @Test func `An open page is notified when the API goes offline and online`() async throws {
        try await listen { events, controllers in
            try await events.wait(for: "data: availability\n\n")
            #expect(await controllers.availability.isOnline)
            events.forget()
            // No server listens there.
            gallery.detour.address = "http://127.0.0.1:1"
            try await events.wait(for: "data: availability\n\n")
            #expect(await !controllers.availability.isOnline)
            events.forget()
            gallery.detour.address = nil
            try await events.wait(for: "data: availability\n\n")
            #expect(await controllers.availability.isOnline)
        }
    }

    @MainActor
    @Test func `Concurrent checks of the API make one request`() async {
        let availability = Availability()
        var requests = 0
        for _ in 0..<10 {
            await availability.observeIfIdle(for: .seconds(1_000_000)) { () throws(PictureAPIError) in requests += 1 }
        }
        #expect(requests == 1)
        await availability.observeIfIdle(for: .zero) { () throws(PictureAPIError) in requests += 1 }
        #expect(requests == 2)
    }

    @Test func `A slow reader gets each kind of change once`() async throws {
        let mailbox = Mailbox()
        for _ in 0..<1000 { mailbox.post(.favourites) }
        mailbox.post(.easel)
        #expect(await mailbox.collect() == [.favourites, .easel])
        mailbox.post(.notice)
        #expect(await mailbox.collect() == [.notice])
        mailbox.close()
        #expect(await mailbox.collect() == nil)
    }
}
