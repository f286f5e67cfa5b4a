import Bodega
import BodegaHTTP
import BodegaMessages
import Foundation

/// Signals of the changes of a collection on a server, by one stream of events for all listeners.
final class RemoteEvents: Sendable {
    /// The server sends something at least every 15 seconds.
    private static let silence = Duration.seconds(40)
    private static let maximumDelay = Duration.seconds(10)

    private struct State {
        /// The listeners, and the task that follows for them. There are none before the first one.
        var signals: ChangeSignals?
        var task: Task<Void, Never>?
    }

    private let requests: RemoteRequests
    private let path: String
    private let state = Locked(State())

    init(_ requests: RemoteRequests, _ path: String) { (self.requests, self.path) = (requests, path) }

    deinit { state.withLock { $0.task }?.cancel() }

    func signals(excluding origin: StorageOrigin?) -> AsyncStream<Void> {
        state.withLock { state in
            let signals = state.signals ?? ChangeSignals(silenced: { [weak self] in self?.stop() })
            state.signals = signals
            if state.task == nil {
                state.task = Task { [requests, path] in await Self.follow(requests, path, signals) }
            }
            return signals.stream(excluding: origin)
        }
    }

    /// Stops after the last listener.
    private func stop() {
        state.withLock { state in
            // Another one may have come.
            if state.signals?.areHeard ?? false { return }
            state.task?.cancel()
            state.task = nil
        }
    }

    private static func follow(_ requests: RemoteRequests, _ path: String, _ signals: ChangeSignals) async {
        var cursor: String?
        var delay = Duration.milliseconds(100)
        while !Task.isCancelled {
            let start = ContinuousClock.now
            do {
                let headers = ["Accept": "text/event-stream"].merging(cursor.map { ["Last-Event-ID": $0] } ?? [:]) {
                    $1
                }
                let stream = try await requests.open(.get, path, headers: headers, timeLimit: silence)
                // Changes may have been made before the stream was open.
                signals.send()
                var lines = LineBuffer()
                for try await part in stream {
                    lines.append(part)
                    while let line = lines.next() {
                        let text = String(decoding: line, as: UTF8.self)
                        if text.hasPrefix("id: ") { cursor = String(text.dropFirst(4)) }
                        if text.hasPrefix("data: ") { signals.send(changeBy: try origin(of: line.dropFirst(6))) }
                    }
                }
            } catch {
                // The connection is lost, or the server refuses. Readers find out why when they read.
                signals.send()
            }
            // A stream that ends soon after it has begun, for example by a proxy, must not be opened again and again.
            if start.duration(to: .now) > maximumDelay { delay = .milliseconds(100) }
            // Many clients of a server that has restarted must not come back at the same moment.
            try? await Task.sleep(for: delay * Double.random(in: 0.5...1))
            delay = min(delay * 2, maximumDelay)
        }
    }

    /// The origin of all changes of an event; `nil` if there are several.
    private static func origin(of data: Data) throws -> StorageOrigin? {
        let part = try JSONPart(data)
        // The events "begin" and "gap" have objects.
        guard let changes: [StorageChange] = try? part.list() else { return nil }
        let origins = Set(changes.map(\.origin))
        return origins.count == 1 ? origins.first ?? nil : nil
    }
}
