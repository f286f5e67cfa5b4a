import AsyncHTTPClient
import NIOCore
import Testing

/// The text of a stream of events.
struct Events {
    private var chunks: HTTPClientResponse.Body.AsyncIterator
    private var text = ""

    init(_ chunks: HTTPClientResponse.Body.AsyncIterator) {
        self.chunks = chunks
    }

    /// The text received since the last call of ``forget()``.
    var received: String { text }

    /// Discards the text received so far.
    mutating func forget() {
        text = ""
    }

    /// Reads until a text has arrived, in any order with others.
    mutating func wait(for wanted: String) async throws {
        while !text.contains(wanted) {
            guard let chunk = try await chunks.next() else {
                Issue.record("The stream ended without \(wanted).")
                return
            }
            text += String(buffer: chunk)
        }
    }
}
