#if Server
import Bodega
import BodegaMessages
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import RecordCoder

// Streams of changes.
extension StorageRoutes {
    /// Server-sent events: changes since a cursor, or from now on. Each event has the cursor after it as its
    /// identifier, so a client that connects again goes on where it was. If the log does not reach back to it, an event
    /// `gap` says so, and the client reads all items.
    func events(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        guard let log = collection.engine.log else { throw StorageError.noLog }
        let place = try streams.take(for: request.client)
        let last =
            request.request.headers[.lastEvent] ?? request.request.uri.queryParameters["since"].map { String($0) }
        // It comes back as the identifier of the first event, of which it must be one line.
        guard last?.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) ?? true else {
            throw StorageError(.invalidArgument, "The cursor is none of this server.")
        }
        let start = if let last { StorageCursor(rawValue: last) } else { try await log.fetchCursor() }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                defer { withExtendedLifetime(place) {} }
                let output = EventWriter(writer)
                let wakeup = StreamWakeup(expiresAt: request.client.expiresAt)
                try await request.request.body.consumeWithInboundCloseHandler { _ in
                    try await eventStreams.withStream(of: collection.engine, log, wakeup) { changes in
                        try await send(changes, of: collection.name, since: start, to: output, request, wakeup)
                    }
                } onInboundClosed: {
                    wakeup.wake(.end)
                }
                try await output.finish()
            })
    }

    private func send(
        _ changes: StreamedChanges, of name: String, since start: StorageCursor, to output: EventWriter,
        _ request: ClientRequest, _ wakeup: StreamWakeup
    ) async throws {
        try await output.write(.event("begin", start, "{}"))
        let token = request.request.bearer
        var cursor = start
        while true {
            let reasons = await wakeup.next()
            if reasons.contains(.end) { return }
            let event = try await changes.next(after: cursor)
            if event == nil, reasons.isDisjoint(with: [.access, .time]) { continue }
            // A stream must not outlive the right to it, also where changes of access are not signaled, and where its
            // reader is slow: a write can take minutes, so this comes before each event.
            guard let client = try await access.client(bearing: token), client.isValid, client.id == request.client.id,
                client.scope(of: name)?.identity == request.client.scope(of: name)?.identity
            else { return }
            if reasons.contains(.time) { try await output.write(ByteBuffer(string: ":\n\n")) }
            guard let event else { continue }
            if let text = event.text { try await output.write(text) }
            cursor = event.cursor
            // More may follow.
            wakeup.wake(.changes)
        }
    }
}

extension HTTPField.Name {
    fileprivate static let lastEvent = named("Last-Event-ID")
}

/// The writer of a response, of which one task has the use.
private final class EventWriter: @unchecked Sendable {
    // @unchecked because the task that writes is the only one that has it, but it was made by another one.
    private var writer: any ResponseBodyWriter

    init(_ writer: any ResponseBodyWriter) { self.writer = writer }

    func write(_ text: ByteBuffer) async throws { try await writer.write(inParts: text) }

    func finish() async throws { try await writer.finish(nil) }
}
#endif
