import Bodega
import BodegaSync
import Foundation

/// The synchronization of an SQLite file with a remote database, as a command runs it.
///
///     settling ── connects, resumes, waits ──► settled
///     loop ── every 0.1 s ──► progress bar; ends it by an interruption, a lasting failure, or no progress in time
///
/// The outcomes are collected from before the first request, because a stream has no past.
struct SyncSession: Sendable {
    private let sqlite: SQLiteStorageEngine
    private let local: StorageAddress
    private let remote: StorageAddress
    private let place: RemotePlace
    private let counter: CountedRemote
    private let outbox: LocalOutbox
    private let collections: [String]
    /// Why the remote database could not be opened.
    private let failure = Locked(SyncFailure?.none)
    /// Why a collection that neither database has is left out.
    private let leftOut = Locked(StorageError?.none)
    let sync: StorageSync

    /// The failures after which another attempt would fail, too.
    private static let lasting: Set<String> = [
        "unauthorized", "forbidden", "cannotOpen", "invalidArgument", "readOnly", "permissionDenied", "damaged",
        "placeRemoved",
    ]

    /// The failures that can concern one of several collections. The others go on then.
    private static let missing: Set<StorageError.Code> = [.cannotOpen, .permissionDenied, .placeRemoved]

    /// Connects to nothing yet.
    ///
    /// - Parameters:
    ///   - sqlite: The local file.
    ///   - collections: The names of the collections.
    ///   - place: The remote database.
    ///   - token: The token for its server. If it is refused, it is read again.
    ///   - policy: How versions are merged.
    init(
        _ sqlite: SQLiteStorageEngine, at local: StorageAddress, _ collections: [String], with place: RemotePlace,
        at remote: StorageAddress, token: ServerToken?, policy: SyncConflictPolicy
    ) async throws {
        (self.sqlite, self.local, self.remote) = (sqlite, local, remote)
        (self.place, self.collections) = (place, collections)
        counter = CountedRemote(EngineSyncRemote { try await place.engine($0) }) { try sqlite.collection(named: $0) }
        await place.notice { [counter] in counter.noteProgress() }
        outbox = try await LocalOutbox { try sqlite.collection(named: $0) }
        var options = SyncOptions()
        (options.startsPaused, options.policy) = (true, policy)
        options.reauthorize = {
            // The file may be written at the moment: the old token is tried again later, and then the file, too.
            do { return try token?.renew() ?? false } catch { return false }
        }
        sync = try await StorageSync(local: { try sqlite.collection(named: $0) }, remote: counter, options: options)
    }

    /// The collections to synchronize: without those that neither database has. A misspelled one would be created, and
    /// fail from then on.
    private func existingCollections() async throws -> [String] {
        let known = Set(try await sqlite.collectionNames().map { ExactText($0) })
        var names: [String] = []
        for name in collections {
            if !known.contains(ExactText(name)) {
                do {
                    _ = try await place.engine(name)
                } catch let error as StorageError where Self.missing.contains(error.code) {
                    leftOut.withLock { $0 = error }
                    continue
                } catch let error as StorageError where !Self.lasting.contains(error.code.rawValue) {
                    // It is not known.
                }
            }
            names.append(name)
        }
        if names.isEmpty, let error = leftOut.withLock({ $0 }) { throw error }
        return names
    }

    /// Notes the items of collections that were not synchronized before, opens the remote database, and notes it.
    ///
    /// - Throws: An error if another attempt would fail, too, for each collection. One that is temporary is ignored,
    ///   and so are those of some collections, which hold up no other.
    private func connect() async throws {
        let collections = try await existingCollections()
        for name in collections { _ = try await sync.collection(named: name) }
        do {
            var missing: StorageError?
            var count = 0
            for name in collections {
                do {
                    _ = try await place.engine(name)
                    count += 1
                } catch let error as StorageError where Self.missing.contains(error.code) { missing = error }
            }
            if count == 0, let missing { throw missing }
            try await outbox.setRemoteName(remote.identity)
            failure.withLock { $0 = nil }
        } catch let error as StorageError where !Self.lasting.contains(error.code.rawValue) {
            // The synchronization retries, and reports it.
            failure.withLock { $0 = SyncFailure(code: error.code.rawValue, message: error.message) }
        }
    }

    // MARK: Once

    /// Synchronizes until all changes are sent and read.
    ///
    /// - Parameters:
    ///   - timeout: The time without progress after which it fails.
    ///   - bar: Shows the progress.
    /// - Returns: What was done, and why not everything.
    func settle(
        within timeout: Double, on console: Console, _ bar: inout ProgressBar
    ) async throws -> (done: SyncSummary, failure: (any Error)?) {
        let outcomes = sync.outcomes
        let collecting = Task {
            var all: [SyncOutcome] = []
            for await outcome in outcomes { all.append(outcome) }
            return all
        }
        defer { collecting.cancel() }
        var failure: (any Error)?
        do {
            try await wait(within: timeout, on: console, &bar)
            await sync.pause()
        } catch {
            // A request may still wait for its answer.
            failure = error
        }
        // The outcomes were passed on before the synchronization was settled.
        collecting.cancel()
        let done = SyncSummary(await collecting.value, received: counter.received, parked: try await sync.parked())
        if failure == nil { try await place.close() }
        return (done, failure)
    }

    private func wait(within timeout: Double, on console: Console, _ bar: inout ProgressBar) async throws {
        let (hasEnded, interruption) = (Locked(false), console.interruption)
        let settling = Task {
            defer {
                hasEnded.withLock { $0 = true }
                interruption.wake()
            }
            try await connect()
            await sync.resume()
            try await sync.settled()
        }
        defer { settling.cancel() }
        var (pending, full) = (sync.status.pending, FullTime())
        while !hasEnded.withLock({ $0 }) {
            await interruption.wait(seconds: 0.1, orWoken: true)
            // Items that are noted in the outbox are progress, too.
            let isProgress = pending != sync.status.pending
            pending = sync.status.pending
            if isProgress { counter.noteProgress() }
            if let status = interruption.status {
                throw ToolError(status, "Interrupted. What is left stays in the outbox.")
            }
            bar.update(items: counter.items, done: counter.items, of: nil)
            let failure = sync.status.failure ?? failure.withLock { $0 }
            if let failure, Self.lasting.contains(failure.code), !goesOn(without: failure) {
                throw try await error("\(remote): \(failure.message)")
            }
            full.update(sync.status)
            if max(counter.idleTime, full.time) > .seconds(timeout), !hasEnded.withLock({ $0 }) {
                let reason = failure.map { ": \($0.message)" } ?? "."
                let time = timeout == timeout.rounded() ? "\(Int(timeout))" : "\(timeout)"
                let isFull = failure?.code == StorageError.Code.storageFull.rawValue
                let what = counter.items > 0 ? "There was no progress with \(remote)" : "\(remote) was not reached"
                throw try await error("\(isFull ? "Nothing could be stored" : what) within \(time) s\(reason)")
            }
        }
        try await settling.value
        if let left = leftOut.withLock({ $0 }) { throw try await error("\(remote): \(left.message)") }
    }

    /// Whether a failure concerns one of several collections, and the others still have something to send. They have
    /// been read by then.
    private func goesOn(without failure: SyncFailure) -> Bool {
        guard collections.count > 1, Self.missing.contains(.init(rawValue: failure.code)) else { return false }
        // What is left belongs to the missing collection if none of it is sent for some time.
        return counter.isSending || counter.idleTime < .seconds(2)
    }

    private func error(_ reason: String) async throws -> ToolError {
        let count = try await outbox.fetchPending().count
        let left = count == 0 ? "" : " \(Counted.text(count, "change")) \(count == 1 ? "stays" : "stay") in the outbox."
        return ToolError(.failure, "\(reason.sentence)\(left) Run the same command again to continue.")
    }

    // MARK: Until interrupted

    /// Synchronizes until the command is interrupted, and prints a line for each outcome.
    func follow(_ lines: SyncLines) async throws {
        let console = lines.console
        let (outcomes, updates) = (sync.outcomes, sync.statusUpdates)
        let (interruption, end) = AsyncStream<Void>.makeStream()
        console.interruption.onInterruption { end.finish() }
        try await connect()
        if let left = leftOut.withLock({ $0 }) { console.complain("note: \(remote): \(left.message)") }
        await sync.resume()
        console.onReady()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await outcome in outcomes { try console.output.write(lines.line(for: outcome, now: Date())) }
            }
            group.addTask {
                var last: String?
                for await status in updates where status.failure?.message != last {
                    last = status.failure?.message
                    console.complain("note: \(last.map { "\($0) Retrying…" } ?? "\(remote) is reached again.")")
                }
            }
            group.addTask { for await _ in console.output.abandonment() { throw BrokenPipe() } }
            group.addTask { for await _ in interruption {} }
            defer { group.cancelAll() }
            try await group.next()
        }
        await sync.pause()
        try await place.close()
    }
}

/// How long a full volume has prevented storing what is read. In the meantime, the same items are read again, which is
/// no progress.
private struct FullTime {
    private var start: ContinuousClock.Instant?
    private var lastSuccess: Date?

    var time: Duration { start.map { .now - $0 } ?? .zero }

    mutating func update(_ status: SyncStatus) {
        if status.failure?.code != StorageError.Code.storageFull.rawValue || status.lastSuccess != lastSuccess {
            start = nil
        } else if start == nil {
            start = .now
        }
        lastSuccess = status.lastSuccess
    }
}

extension StorageAddress {
    /// What distinguishes a remote database from others, without secrets.
    var identity: String {
        if let serverURL { return StorageAddress.server(serverURL).description }
        if let connectionURL { return StorageAddress.postgres(connectionURL).description }
        return StorageAddress.sqlite(URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path)
            .description
    }
}
