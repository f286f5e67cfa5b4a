package import AsyncHTTPClient
import NIOCore

/// The text of a stream of events.
package struct Events {
    private var chunks: HTTPClientResponse.Body.AsyncIterator
    private var text = ""

    package init(_ chunks: HTTPClientResponse.Body.AsyncIterator) {
        self.chunks = chunks
    }

    /// The text received since the last call of ``forget()``.
    package var received: String { text }

    /// Discards the text received so far.
    package mutating func forget() {
        text = ""
    }

    /// Reads until a text has arrived, in any order with others.
    package mutating func wait(for wanted: String) async throws {
        while !text.contains(wanted) {
            guard try await receive() else {
                throw ServerProcess.Failure(description: "The stream ended without \(wanted), after \(text)")
            }
        }
    }

    /// Reads until the stream ends.
    package mutating func waitForEnd() async throws {
        while try await receive() {}
    }

    /// Receives more text.
    ///
    /// - Returns: Whether the stream goes on.
    private mutating func receive() async throws -> Bool {
        guard let chunk = try await chunks.next() else { return false }
        text += String(buffer: chunk)
        return true
    }
}
