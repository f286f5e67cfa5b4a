#if Server
import Bodega
import BodegaMessages
import NIOCore
import RecordCoder

/// What the streams of one log send. It is read once for all of them.
///
/// A stream asks for the event after its cursor. Most streams are at the end of the log, so the first one that a signal
/// wakes reads what has come, while the others wait. It is kept until each of them has taken it. A stream that is
/// behind reads for itself. Whether nothing follows the end is known until the next signal.
///
/// `state` is guarded by its lock; `lock` lets one stream read at a time.
final class StreamedChanges: Sendable {
    /// What leads from one cursor to the next one.
    struct Event {
        let cursor: StorageCursor
        /// An event of the stream; `nil` if there is nothing to send.
        let text: ByteBuffer?
    }

    fileprivate struct Kept {
        let start: StorageCursor
        let event: Event
        /// The number of streams that have not taken it.
        var takers: Int
    }

    fileprivate struct State {
        var streams = 0
        var kept: [Kept] = []
        var signals = 0
        /// A cursor after which there was nothing, when there had been so many signals.
        var end: (cursor: StorageCursor, signals: Int)?
        /// Whether there will be signals.
        var isFollowed = true
    }

    fileprivate enum Answer {
        case event(Event)
        case nothing
        case unknown
    }

    /// The number of events, and of their bytes beside the latest one, that are kept for slower streams.
    fileprivate static let (capacity, byteCapacity) = (16, 65_536)

    private let log: any StorageLog
    private let state = Locked(State())
    private let lock = AsyncLock()

    init(log: any StorageLog) { self.log = log }

    /// Notes that the log may have changed.
    func noteSignal() { state.withLock { $0.signals += 1 } }

    /// Notes that the log signals no longer, as that of an engine that was closed.
    func noteEndOfSignals() { state.withLock { $0.isFollowed = false } }

    func join() { state.withLock { $0.streams += 1 } }

    func leave() {
        state.withLock { state in
            state.streams -= 1
            if state.streams < 2 { state.kept = [] }
        }
    }

    /// The event after a cursor; `nil` if the log ends there for now.
    func next(after cursor: StorageCursor) async throws -> Event? {
        var answer = state.withLock { $0.take(cursor) }
        if case .unknown = answer {
            answer = try await lock.withLock {
                let (known, signals) = state.withLock { ($0.take(cursor), $0.signals) }
                guard case .unknown = known else { return known }
                return try await read(cursor, signals)
            }
        }
        guard case .event(let event) = answer else { return nil }
        return event
    }

    private func read(_ cursor: StorageCursor, _ signals: Int) async throws -> Answer {
        guard let delta = try await log.fetchChanges(ChangesRequest(since: cursor)).value else {
            let end = try await log.fetchCursor()
            return .event(Event(cursor: end, text: .event("gap", end, "{}")))
        }
        var text: ByteBuffer?
        if !delta.changes.isEmpty {
            var bytes: [UInt8] = []
            delta.changes.encode(into: &bytes)
            text = .event("changes", delta.cursor, String(decoding: bytes, as: UTF8.self))
        }
        let event = Event(cursor: delta.cursor, text: text)
        return state.withLock { state in
            if delta.isComplete { state.end = (delta.cursor, signals) }
            guard delta.cursor != cursor else { return .nothing }
            state.keep(Kept(start: cursor, event: event, takers: state.streams - 1))
            return .event(event)
        }
    }
}

extension StreamedChanges.State {
    fileprivate mutating func take(_ cursor: StorageCursor) -> StreamedChanges.Answer {
        if let index = kept.firstIndex(where: { $0.start == cursor }) {
            let event = kept[index].event
            kept[index].takers -= 1
            if kept[index].takers == 0 { kept.remove(at: index) }
            return .event(event)
        }
        if let end, isFollowed, end.cursor == cursor, end.signals == signals { return .nothing }
        return .unknown
    }

    fileprivate mutating func keep(_ new: StreamedChanges.Kept) {
        guard new.takers > 0 else { return }
        var size = kept.reduce(0) { $0 + ($1.event.text?.readableBytes ?? 0) }
        while let oldest = kept.first, kept.count >= StreamedChanges.capacity || size > StreamedChanges.byteCapacity {
            size -= oldest.event.text?.readableBytes ?? 0
            kept.removeFirst()
        }
        kept.append(new)
    }
}

extension ByteBuffer {
    /// A server-sent event, whose identifier is a cursor.
    static func event(_ name: String, _ cursor: StorageCursor, _ data: String) -> ByteBuffer {
        ByteBuffer(string: "id: \(cursor.rawValue)\nevent: \(name)\ndata: \(data)\n\n")
    }
}
#endif
