import AsyncAlgorithms
import Hummingbird
import ServiceLifecycle

/// A stream of server-sent events that notifies an open page of changes.
///
/// An event names the kind of change, and the page fetches itself again. The stream begins with all kinds, so a page
/// that reconnects after a restart of the server catches up. Changes for a slow page are coalesced; see ``Mailbox``.
///
/// A page of the archive does not fetch its pictures again. The stream has a window for as long as the page is open,
/// and sends each change of the window with its place; see ``ArchiveEvents``.
struct EventStream: Sendable {
    let controllers: GalleryControllers
    let templates: Templates
    /// The interval of heartbeats, by which both sides notice that the other one is gone.
    let heartbeat: Duration
    /// The interval of checks whether the API responds. Nothing else reports that it has gone.
    let checkInterval: Duration

    /// The response to a request for events.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - search: The search whose pictures the page shows, if it is one of the archive.
    func response(to request: Request, in search: ArchiveSearch? = nil) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                let mailbox = Mailbox()
                // The server waits for its connections when it stops, and this one would never end by itself.
                try await withGracefulShutdownHandler {
                    try await request.body.consumeWithCancellationOnInboundClose { _ in
                        try await send(mailbox, search, to: &writer)
                    }
                } onGracefulShutdown: {
                    mailbox.close()
                }
                try await writer.finish(nil)
            }
        )
    }

    private func send(
        _ mailbox: Mailbox, _ search: ArchiveSearch?, to writer: inout any ResponseBodyWriter
    ) async throws {
        // Each part waits until the browser has received those before it.
        let parts = AsyncChannel<String>()
        let archive = search.map {
            ArchiveEvents(
                search: $0, archive: controllers.archive, templates: templates, mailbox: mailbox, parts: parts)
        }
        try await withThrowingTaskGroup { group in
            group.addTask { await controllers.forwardChanges(to: mailbox, heartbeat: heartbeat) }
            group.addTask { await controllers.checkAvailability(every: checkInterval) }
            group.addTask {
                while let changes = await mailbox.collect() {
                    let events = changes.subtracting([.archive]).map(\.event).sorted().joined()
                    if !events.isEmpty { await parts.send(events) }
                    if changes.contains(.archive) { await archive?.sendSummary() }
                }
                parts.finish()
            }
            if let archive { group.addTask { await archive.sendRows() } }
            defer { group.cancelAll() }
            try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
            for await part in parts { try await writer.write(ByteBuffer(string: part)) }
        }
    }
}

extension Change {
    /// The change as an event; the heartbeat is a comment.
    fileprivate var event: String {
        self == .heartbeat ? ":\n\n" : "event: change\ndata: \(rawValue)\n\n"
    }
}
