import Hummingbird
import ServiceLifecycle

/// Tells a page what has changed, as server-sent events, for as long as it is open.
///
/// An event names what has changed, and the page fetches itself anew. It begins with everything, so a page that comes back
/// after the server was away catches up. For a page that reads too slowly the changes are collected; see ``Mailbox``.
struct EventStream: Sendable {
    let controllers: GalleryControllers
    /// How often something is sent if nothing changes, so that both sides notice when the other one is gone.
    let heartbeat: Duration
    /// How often it is looked whether the API is there. Nothing else tells that it has gone.
    let lookout: Duration

    /// Answers a request with events.
    func response(to request: Request) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                let mailbox = Mailbox()
                // The server waits for its connections when it stops, and this one would never end.
                try await withGracefulShutdownHandler {
                    try await request.body.consumeWithCancellationOnInboundClose { _ in
                        try await send(mailbox, to: &writer)
                    }
                } onGracefulShutdown: {
                    mailbox.close()
                }
                try await writer.finish(nil)
            }
        )
    }

    private func send(_ mailbox: Mailbox, to writer: inout any ResponseBodyWriter) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { await controllers.forwardChanges(to: mailbox, heartbeat: heartbeat) }
            group.addTask { await controllers.lookOut(every: lookout) }
            defer { group.cancelAll() }
            try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
            while let changes = await mailbox.collect() {
                let events = changes.map(\.event).sorted().joined()
                try await writer.write(ByteBuffer(string: events))
            }
        }
    }
}

extension Change {
    /// The change as an event, or, for the heartbeat, as a comment.
    fileprivate var event: String {
        self == .heartbeat ? ":\n\n" : "event: change\ndata: \(rawValue)\n\n"
    }
}
