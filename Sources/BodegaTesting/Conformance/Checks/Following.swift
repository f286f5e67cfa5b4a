import Bodega
import Foundation

extension StorageEngineConformance.Check {

    /// A feed without a cursor begins with a snapshot of all items and continues with changes.
    public static let feedsBeginWithASnapshot = feed("feeds begin with a snapshot") { examination, engine in
        try await engine.write(examination.items("b", "a"))
        let feed = Follower(engine.changes())
        guard case .snapshot(let snapshot)?? = try await examination.soon("the first event", feed.next) else {
            return examination.record("the first event", expected: "a snapshot", actual: "something else")
        }
        examination.expectItems(snapshot.items, examination.items("b", "a"), "the snapshot")
        try await engine.write(examination.items("c"))
        try await engine.remove(key: examination.key("a"))
        var changes: [StorageChange] = []
        while changes.count < 2 {
            guard case .changes(let delta)?? = try await examination.soon("the next event", feed.next) else {
                return examination.record("the next event", expected: "changes", actual: "something else")
            }
            changes += delta.changes
        }
        examination.expectChanges(
            changes, examination.written("c") + examination.removed("a"), "the changes after the snapshot")
    }

    /// While tasks write at random, a follower receives each task's changes in order, each once: from a cursor all
    /// later ones, after a snapshot exactly those that are not in it.
    public static let snapshotsFitTheirCursors = feed("snapshots fit their cursors") { examination, engine in
        let seed = examination.printedSeed()
        let start = try await engine.fetchCursor()
        let outcome = try await examination.soon("following, seed \(seed)") {
            let end = CacheKey("end")
            async let fromCursor = Follower(engine.changes(since: start)).story(until: end)
            // They begin while the writers are running.
            async let late = atOnce([4, 8, 16]) { count in
                while await engine.keyCount() < count { await Task.yield() }
                return try await Follower(engine.changes()).story(until: end)
            }
            let writers = try await atOnce(Array(0..<6)) { number in
                var writer = RandomWriter(number: number, seed: seed, examination)
                for _ in 0..<60 { try await writer.change(engine) }
                return writer
            }
            try await engine.write(bytes("end"), key: end)
            return try await ([fromCursor] + late, writers)
        }
        guard let (stories, writers) = outcome else { return }
        for (number, story) in stories.enumerated() {
            for writer in writers {
                let subject = "writer \(writer.number) to follower \(number), seed \(seed)"
                let received = story.changes.filter { writer.owns($0.key) }
                // The first began at a cursor and receives all changes. The others' snapshots show where they began.
                let expected = writer.steps.map(\.change).suffix(number == 0 ? writer.steps.count : received.count)
                examination.expectChanges(received, Array(expected), "the changes of \(subject)")
                examination.expectItems(
                    writer.own(story.snapshot),
                    writer.items(after: writer.steps.count - expected.count),
                    "the snapshot of \(subject)"
                )
            }
        }
    }

    /// While tasks write at random, the items read with changes are in the state after those changes, not a newer one.
    public static let changedItemsFitTheirChanges = feed("changed items fit their changes") { examination, engine in
        let seed = examination.printedSeed()
        let start = try await engine.fetchCursor()
        let outcome = try await examination.soon("reading changed items, seed \(seed)") {
            let end = CacheKey("end")
            let readings = Locked(0)
            async let moments = {
                // Readers must not wait for a writer that has failed.
                defer { readings.withLock { $0 = .max } }
                return try await ItemReader.moments(of: engine, since: start, until: end) {
                    readings.withLock { $0 += 1 }
                }
            }()
            let writers = try await atOnce(Array(0..<4)) { number in
                var writer = RandomWriter(number: number, seed: seed, examination)
                for _ in 0..<60 { try await writer.change(engine) }
                // Until several reads found changes while writers were running, or enough steps for any log.
                while readings.withLock({ $0 < 10 }), writer.steps.count < 2_000 {
                    try Task.checkCancellation()
                    try await writer.change(engine)
                    await Task.yield()
                }
                return writer
            }
            try await engine.write(bytes("end"), key: end)
            return try await (moments, writers)
        }
        guard let (moments, writers) = outcome else { return }
        for writer in writers {
            for moment in moments {
                let received = moment.changes.filter { writer.owns($0.key) }
                let subject = "\(received.count) changes of writer \(writer.number), seed \(seed)"
                examination.expectChanges(
                    received, writer.steps.prefix(received.count).map(\.change), "the first \(subject)")
                examination.expectItems(
                    writer.own(moment.items),
                    writer.items(after: received.count), "the items after \(subject)")
            }
        }
        let origin = StorageOrigin()
        let cursor = try await engine.fetchCursor()
        try await StorageOrigin.$current.withValue(origin) { try await engine.write(examination.items("own")) }
        let own = try await engine.fetchChangedItems(since: cursor, excluding: origin)
        examination.expectEqual(own?.items ?? [], [], "the items excluding the origin's own")
        examination.expect(own != nil && own?.cursor != cursor, "the cursor passes the origin's own changes")
        let unknown = try await engine.fetchChangedItems(since: StorageCursor(rawValue: "?"), excluding: nil)
        examination.expect(unknown == nil, "fetchChangedItems(since:excluding:) of an unknown cursor is nil")
    }

    /// There is a signal immediately, and one after each change or after several.
    public static let signalsComeForEachChange = feed("signals come for each change") { examination, engine in
        var cursor = try await engine.fetchCursor()
        let signals = Follower(engine.changeSignals())
        _ = try await examination.soon("the first signal", signals.next)
        for number in 0..<50 {
            let name = "\(number)"
            try await engine.write(bytes(name), key: examination.key(name))
            var found: [StorageChange] = []
            // A signal can announce a change that was read before it arrived.
            while found.isEmpty {
                guard case ()?? = try await examination.soon("the signal after change \(number)", signals.next),
                    let delta = try await examination.allChanges(of: engine, since: cursor, "after a signal")
                else { return }
                (found, cursor) = (delta.changes, delta.cursor)
            }
            examination.expectChanges(found, examination.written(name), "the changes after a signal")
        }
    }

    /// A follower of one engine receives the changes of another engine that shares its items.
    public static let changesOfOtherEnginesAreReported = Self(
        "changes of other engines are reported", requires: .shared
    ) { examination in
        try await examination.observing { one in
            try await examination.observing { other in
                let feed = Follower(one.changes(since: try await one.fetchCursor()))
                for number in 0..<20 {
                    let name = "\(number)"
                    try await other.write(bytes(name), key: examination.key(name))
                    guard case .changes(let delta)?? = try await examination.soon("another origin's change", feed.next)
                    else { return examination.record("the event", expected: "changes", actual: "something else") }
                    examination.expectChanges(delta.changes, examination.written(name), "the changes of another")
                }
            }
        }
    }

    /// A reader that doesn't read doesn't block writers, and receives everything when it reads.
    public static let slowReadersDoNotBlockWriters = feed("slow readers don't block writers") { examination, engine in
        let feed = Follower(engine.changes(since: try await engine.fetchCursor()))
        let names = (0..<500).map { "\($0)" }
        let isWritten: Void? = try await examination.soon("writing while a feed is not read") {
            for name in names { try await engine.write(bytes(name), key: examination.key(name)) }
        }
        if isWritten == nil { return }
        var changes: [StorageChange] = []
        while changes.count < names.count {
            guard case .changes(let delta)?? = try await examination.soon("the changes for a slow reader", feed.next)
            else { return examination.record("the event", expected: "changes", actual: "something else") }
            changes += delta.changes
        }
        examination.expectChanges(changes, names.flatMap { examination.written($0) }, "the changes for a slow reader")
    }

    /// A feed that waits for changes ends when its task is cancelled.
    public static let cancelledFeedsEnd = feed("cancelled feeds end") { examination, engine in
        try await engine.write(bytes("a"), key: examination.key("a"))
        let cursor = try await engine.fetchCursor()
        for pause in 0..<30 {
            let waiting = Task { try await Follower(engine.changes(since: cursor)).next() }
            // Cancelled before, during and after the beginning of the wait.
            for _ in 0..<pause * 10 { await Task.yield() }
            waiting.cancel()
            let isOver: Void? = try await examination.soon("the end of a cancelled feed") {
                if case .success(let update?) = await waiting.result {
                    examination.record("a cancelled feed", expected: "an end", actual: described(update))
                }
            }
            if isOver == nil { return }
        }
    }
}

/// The results of a closure that runs concurrently for all elements, in their order.
func atOnce<Element: Sendable, Result: Sendable>(
    _ elements: [Element],
    _ body: @escaping @Sendable (Element) async throws -> Result
) async throws -> [Result] {
    try await withThrowingTaskGroup(of: (Int, Result).self) { group in
        for (index, element) in elements.enumerated() {
            group.addTask { (index, try await body(element)) }
        }
        var results: [(Int, Result)] = []
        for try await result in group { results.append(result) }
        return results.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

/// An iterator that can be used from several tasks, one after the other.
private final class Follower<Iterator: AsyncIteratorProtocol>: @unchecked Sendable {
    // @unchecked because no check waits in two tasks at once.
    private var iterator: Iterator

    init<Events: AsyncSequence>(_ events: Events) where Events.AsyncIterator == Iterator {
        iterator = events.makeAsyncIterator()
    }

    @Sendable func next() async throws -> Iterator.Element? { try await iterator.next() }
}

extension Follower<StorageChangeFeed.Iterator> {
    /// The items of the snapshot, if there is one, and the changes up to the first one of a key.
    func story(until end: CacheKey) async throws -> (snapshot: [Item], changes: [StorageChange]) {
        var snapshot: [Item] = []
        var changes: [StorageChange] = []
        while changes.last?.key != end, let update = try await iterator.next() {
            switch update {
            case .snapshot(let first):
                snapshot = first.items
                // No changes follow a snapshot this late.
                if snapshot.contains(where: { $0.key == end }) { return (snapshot, changes) }
            case .changes(let delta): changes += delta.changes
            }
        }
        return (snapshot, changes)
    }
}

/// Maintains a copy of the items by reading those that have changed.
private struct ItemReader {
    private(set) var changes: [StorageChange] = []
    private var known: [CacheKey: Data] = [:]

    var items: [Item] { known.map { ($0.key, $0.value) } }

    /// Reads until a key changes.
    ///
    /// - Parameter onReading: Called after each read that returned changes.
    /// - Returns: The known state after each read.
    static func moments(
        of engine: any StorageBackend,
        since start: StorageCursor,
        until end: CacheKey,
        _ onReading: @Sendable () -> Void
    ) async throws -> [ItemReader] {
        var moments: [ItemReader] = []
        var (reader, cursor) = (ItemReader(), start)
        while reader.known[end] == nil {
            try Task.checkCancellation()
            let delta = try await engine.fetchChangedItems(since: cursor, excluding: nil)
            if delta?.changes.isEmpty != true { onReading() }
            // Retry on an engine that can't read while others write.
            guard let delta, !delta.changes.isEmpty else {
                await Task.yield()
                continue
            }
            cursor = delta.cursor
            reader.changes += delta.changes
            for change in delta.changes { reader.known[change.key] = nil }
            for item in delta.items { reader.known[item.key] = item.data }
            moments.append(reader)
        }
        return moments
    }
}

/// Changes its own items at random, and records the expected changes.
private struct RandomWriter {
    let number: Int
    private let keys: [CacheKey]
    private var generator: SeededGenerator
    private var present: Set<CacheKey> = []
    private(set) var steps: [(change: StorageChange, data: Data)] = []

    init(number: Int, seed: UInt64, _ examination: Examination) {
        self.number = number
        keys = (0..<8).map { examination.key("\(number)/\($0)") }
        generator = SeededGenerator(seed: seed &+ UInt64(number))
    }

    /// Whether an item is this writer's.
    func owns(_ key: CacheKey) -> Bool { place(of: key) != nil }

    /// The items among some that belong to this writer, in the order of its keys.
    func own(_ items: [Item]) -> [Item] {
        items.compactMap { item in place(of: item.key).map { ($0, item) } }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private func place(of key: CacheKey) -> Int? {
        keys.firstIndex { $0.rawValue.utf8.elementsEqual(key.rawValue.utf8) }
    }

    /// The items after a number of steps, in the order of the keys.
    func items(after count: Int) -> [Item] {
        var items: [CacheKey: Data] = [:]
        for (change, data) in steps.prefix(count) { items[change.key] = change.kind == .written ? data : nil }
        return own(items.map { ($0.key, $0.value) })
    }

    mutating func change(_ engine: some StorageEngine) async throws {
        var written: Set<CacheKey> = []
        let operations = (0..<Int.random(in: 1...4, using: &generator)).compactMap { _ in operation(&written) }
        if operations.count == 1, case .write(let key, let data) = operations[0] {
            try await engine.write(data, key: key)
        } else {
            try await engine.apply(operations)
        }
    }

    /// The next operation of a batch, or `nil` if the batch already writes its key: engines may merge the two.
    private mutating func operation(_ written: inout Set<CacheKey>) -> StorageOperation? {
        let key = keys[Int.random(in: keys.indices, using: &generator)]
        if Int.random(in: 0..<3, using: &generator) > 0 {
            guard written.insert(key).inserted else { return nil }
            present.insert(key)
            let data = bytes("\(steps.count)")
            steps.append((StorageChange(key: key, kind: .written), data))
            return .write(key: key, data: data)
        }
        written.remove(key)
        if present.remove(key) != nil { steps.append((StorageChange(key: key, kind: .removed), Data())) }
        return .remove(key: key)
    }
}
