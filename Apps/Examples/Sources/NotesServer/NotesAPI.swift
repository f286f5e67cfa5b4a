import AsyncAlgorithms
import Bodega
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

/// The routes. Nothing here runs on the main actor: requests are served on all processors, and the engine waits for the
/// disk on threads of its own.
struct NotesAPI {
    let engine: any StorageBackend
    let notes: ObjectStorage<Note>

    init(engine: any StorageBackend) {
        self.engine = engine
        notes = ObjectStorage(storage: engine)
    }

    func router() -> Router<NotesContext> {
        let router = Router(context: NotesContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: StorageErrorMiddleware())
        router.get("events") { request, context in try await events(request, context) }
        let group = router.group("notes")
        group.get { request, context in try await list(request, context) }
        group.get(":id") { _, context in
            try await found(notes.fetchObject(forKey: context.key))
        }
        group.put(":id") { request, context in
            let (key, draft) = (try context.key, try await request.decode(as: Draft.self, context: context))
            let new = Note(id: key.rawValue, text: draft.text)
            return try await notes.update(forKey: key, default: new) { $0.text = draft.text }
        }
        group.post(":id/likes") { _, context in
            // If another request or process changes the note at the same time, it is read and changed again.
            try await found(notes.update(forKey: context.key) { $0.likes += 1 })
        }
        group.delete(":id") { _, context in
            try await notes.removeObject(forKey: context.key)
            return HTTPResponse.Status.noContent
        }
        return router
    }

    private func found(_ note: Note?) throws -> Note {
        guard let note else { throw HTTPError(.notFound, message: "There is no such note.") }
        return note
    }

    // MARK: The list

    private func list(_ request: Request, _ context: NotesContext) async throws -> NotesPage {
        let wanted = try request.uri.decodeQuery(as: ListQuery.self, context: context)
        var query = Query<Note>()
        if let text = wanted.contains { query = query.filter(#Predicate { $0.text.contains(text) }) }
        let page = try await notes.fetch(
            query, limit: min(max(wanted.limit ?? 50, 1), 100), after: wanted.after.map(QueryCursor.init(rawValue:)),
            omittingUndecodable: true)
        return NotesPage(notes: page.objects, next: page.next?.rawValue)
    }

    // MARK: Events

    /// Server-sent events: each change, with the note as it is stored now. A client that reconnects continues after the
    /// last event that it has received. If the log does not reach back to it, an event `reset` asks the client to load
    /// the notes again.
    private func events(_ request: Request, _ context: NotesContext) async throws -> Response {
        let last = request.headers[.lastEventID].map(StorageCursor.init(rawValue:))
        let start = if let last { last } else { try await engine.fetchCursor() }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                do {
                    // Cancelled when the client disconnects.
                    try await request.body.consumeWithCancellationOnInboundClose { _ in
                        try await sendChanges(since: start, to: &writer)
                    }
                } catch let error as StorageError {
                    // The status has been sent. The client sees an incomplete response, and connects again.
                    context.logger.error("Events could not be read: \(error)")
                    throw error
                }
                try await writer.finish(nil)
            }
        )
    }

    private func sendChanges(since start: StorageCursor, to writer: inout any ResponseBodyWriter) async throws {
        var cursor = start
        // Something is written at least every 15 seconds, because only that shows that the client's machine has gone.
        let heartbeats = AsyncTimerSequence.repeating(every: .seconds(15)).map { _ in }
        for await _ in merge(engine.changeSignals(), heartbeats).cancelOnGracefulShutdown() {
            var isComplete = false
            while !isComplete {
                guard let delta = try await engine.fetchChanges(since: cursor, excluding: nil) else {
                    cursor = try await engine.fetchCursor()
                    try await writer.send("event: reset\nid: \(cursor.rawValue)\ndata: {}")
                    continue
                }
                // One note at a time: what a slow client has not read stays in the log, not in memory.
                var sent: Set<CacheKey> = []
                for key in delta.changes.map(\.key) where sent.insert(key).inserted {
                    let current = try await notes.fetchObjects(forKeys: [key])
                    guard current.undecodable.isEmpty else { continue }
                    let change = NoteChange(id: key.rawValue, note: current.objects.first)
                    try await writer.send("data: \(String(decoding: JSONEncoder().encode(change), as: UTF8.self))")
                }
                (cursor, isComplete) = (delta.cursor, delta.isComplete)
                try await writer.send("id: \(cursor.rawValue)")
            }
        }
    }
}

extension ResponseBodyWriter {
    /// Writes an event, and waits until the connection accepts it.
    fileprivate mutating func send(_ event: String) async throws {
        try await write(ByteBuffer(string: event + "\n\n"))
    }
}
