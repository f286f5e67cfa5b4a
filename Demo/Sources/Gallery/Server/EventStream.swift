import Hummingbird
import ServiceLifecycle

/// A stream of server-sent events that notifies an open page of changes.
///
/// An event names the kind of change, and the page fetches itself again. The stream begins with all kinds, so a page
/// that reconnects after a restart of the server catches up. Changes for a slow page are coalesced; see ``Mailbox``.
struct EventStream: Sendable {
    let controllers: GalleryControllers
    /// The interval of heartbeats, by which both sides notice that the other one is gone.
    let heartbeat: Duration
    /// The interval of checks whether the API responds. Nothing else reports that it has gone.
    let checkInterval: Duration

    /// The response to a request for events.
    func response(to request: Request) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                let mailbox = Mailbox()
                // The server waits for its connections when it stops, and this one would never end by itself.
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
            group.addTask { await controllers.checkAvailability(every: checkInterval) }
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
    /// The change as an event; the heartbeat is a comment.
    fileprivate var event: String {
        self == .heartbeat ? ":\n\n" : "event: change\ndata: \(rawValue)\n\n"
    }
}
