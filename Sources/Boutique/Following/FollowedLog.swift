import Bodega

/// How far a store, a window or the values in an engine follow its log, and what makes them catch up.
///
///      engine's signals ──► follower ──► attempt ──► catchUp(with:show:orAll:) ──► changes since the cursor
///                              ▲                                  │
///      catchUpSoon(), retries ─┘                                  └── not known, gone, too many ──► everything
///
/// The main actor guards all state. The owner orders its attempts and its other reads and writes.
@MainActor
final class FollowedLog {
    /// The cursor in the log up to which changes are shown. If it is `nil`, catching up reads everything.
    var cursor: StorageCursor?
    private var logs: [any StorageLog]
    private nonisolated let follower = ChangeFollower()
    /// The origin whose changes are not followed, if the log is followed at all.
    private var excluded: StorageOrigin??

    nonisolated init(_ log: (any StorageLog)?) { logs = log.map { [$0] } ?? [] }

    /// - Parameter logs: The log with the cursor, if there is one, and others that make the owner catch up, too.
    nonisolated init(_ logs: [any StorageLog]) { self.logs = logs }

    /// Starts to make attempts at each signal and each call of ``catchUpSoon()``, and again if they fail.
    ///
    /// - Parameters:
    ///   - reader: The owner, as it is named in logs.
    ///   - attempt: Catches up. It must not keep the owner alive.
    nonisolated func begin(_ reader: String, _ attempt: @escaping @Sendable () async throws -> Void) {
        follower.begin(reader, logger: boutiqueLogger, attempt)
    }

    /// Follows the changes of all origins but one, instead of those of an earlier call.
    func follow(excluding origin: StorageOrigin? = nil) {
        if logs.isEmpty || excluded == .some(origin) { return }
        excluded = .some(origin)
        follower.follow(.merging(logs.map { $0.changeSignals(excluding: origin) }))
    }

    /// Follows other logs from now on, if logs are followed.
    func follow(_ logs: [any StorageLog]) {
        self.logs = logs
        guard let origin = excluded.take() else { return }
        follow(excluding: origin)
    }

    /// Excludes the changes of another origin, if the log is followed.
    func exclude(_ origin: StorageOrigin) {
        if excluded != nil { follow(excluding: origin) }
    }

    /// Makes an attempt soon.
    nonisolated func catchUpSoon() { follower.catchUp() }

    /// Makes no more attempts. The one that is running is cancelled.
    nonisolated func end() { follower.end() }

    /// Shows what has changed since the cursor.
    ///
    /// - Parameters:
    ///   - changes: Reads the changes since a cursor; `nil` if the log does not reach back, or too much has changed.
    ///   - show: Shows changes, and returns the cursor after them; `nil` if everything must be read to show them.
    ///   - readAll: Reads and shows everything, and sets the cursor.
    func catchUp<Changes>(
        with changes: (StorageCursor) async throws -> Changes?,
        show: (Changes) async throws -> StorageCursor?,
        orAll readAll: () async throws -> Void
    ) async throws {
        if let cursor, let changes = try await changes(cursor), let next = try await show(changes) {
            self.cursor = next
        } else {
            try await readAll()
        }
    }
}

extension AsyncStream<Void> {
    /// The signals of several streams. Signals that are not read yet are one.
    fileprivate static func merging(_ streams: [AsyncStream<Void>]) -> AsyncStream<Void> {
        if streams.count == 1 { return streams[0] }
        let (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        let tasks = streams.map { signals in
            Task {
                for await _ in signals { continuation.yield() }
            }
        }
        continuation.onTermination = { _ in
            for task in tasks { task.cancel() }
        }
        return stream
    }
}
