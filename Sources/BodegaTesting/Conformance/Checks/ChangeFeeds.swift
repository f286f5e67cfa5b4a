import Bodega
import Foundation

extension StorageEngineConformance.Check {

    /// All checks of change feeds.
    public static let changeFeeds = [
        changesComeInOrder, changesComeOnce, failedBatchesReportNothing, ownChangesCanBeLeftOut,
        unknownCursorsAreUnknown, cursorsSurviveReopening, scansHaveTheirCursors, feedsBeginWithASnapshot,
        snapshotsFitTheirCursors, changedItemsFitTheirChanges, signalsComeForEachChange,
        changesOfOtherEnginesAreReported, slowReadersDoNotBlockWriters, cancelledFeedsEnd,
    ]

    /// A feed reports changes in the order in which they took effect, including those within a batch. It doesn't report
    /// operations that change nothing.
    public static let changesComeInOrder = feed("changes come in order") { examination, engine in
        try await engine.write(bytes("1"), key: examination.key("before"))
        let cursor = try await engine.fetchCursor()
        try await engine.write(bytes("1"), key: examination.key("c"))
        try await engine.write(examination.items("b", "a"))
        try await engine.write(bytes("2"), key: examination.key("b"))
        try await engine.remove(key: examination.key("absent"))
        try await engine.remove(key: examination.key("b"))
        try await engine.apply([
            examination.write("d", "1"), examination.remove("d"), examination.write("d", "2"),
            examination.remove("absent"), examination.write("c", "3"), examination.remove("before"),
        ])
        let delta = try await examination.allChanges(of: engine, since: cursor, "after writing")
        let expected =
            examination.written("c", "b", "a", "b") + examination.removed("b") + examination.written("d")
            + examination.removed("d") + examination.written("d", "c")
            + examination.removed("before")
        examination.expectChanges(delta?.changes, expected, "the changes")
        guard let delta else { return }
        try await engine.removeAllData()
        let rest = try await examination.allChanges(of: engine, since: delta.cursor, "after removing all")
        // In any order, because they are removed simultaneously.
        let removed = examination.inKeyOrder(examination.removed("a", "c", "d"))
        examination.expectChanges(
            rest.map { examination.inKeyOrder($0.changes) }, removed, "the changes of removing all")
    }

    /// A reader receives each change after a cursor once, whether it reads after every change or after all of them.
    /// From the same cursor it receives the same changes again.
    public static let changesComeOnce = feed("changes come once") { examination, engine in
        let start = try await engine.fetchCursor()
        var cursor = start
        let names = (0..<30).map { "\($0 % 7)" }
        for name in names {
            try await engine.write(bytes(name), key: examination.key(name))
            let delta = try await examination.allChanges(of: engine, since: cursor, "after a change")
            examination.expectChanges(delta?.changes, examination.written(name), "the changes since the last ones")
            guard let delta else { return }
            cursor = delta.cursor
        }
        for _ in 0..<2 {
            let all = try await examination.allChanges(of: engine, since: start, "from the beginning")
            examination.expectChanges(all?.changes, names.flatMap { examination.written($0) }, "all changes")
        }
        let none = try await examination.allChanges(of: engine, since: cursor, "at the end")
        examination.expectChanges(none?.changes, [], "the changes after the last one")
        let now = try await engine.fetchCursor()
        let since = try await examination.allChanges(of: engine, since: now, "at the present cursor")
        examination.expectChanges(since?.changes, [], "the changes since now")
    }

    /// A feed doesn't report a batch that fails.
    public static let failedBatchesReportNothing = feed(
        "failed batches report nothing", requires: .atomicBatches, needs: .refusedOperation
    ) { examination, engine in
        guard let refuse = examination.configuration.refuseOperation else { return }
        let cursor = try await engine.fetchCursor()
        let refused = try await refuse(engine, examination.workspace)
        do {
            try await engine.apply([examination.write("a"), refused])
            examination.record("a batch with a refused operation", expected: "an error", actual: "none")
        } catch is StorageError {
            // The batch is expected to fail.
        }
        try await engine.write(bytes("b"), key: examination.key("b"))
        let delta = try await examination.allChanges(of: engine, since: cursor, "after a failed batch")
        examination.expectChanges(delta?.changes, examination.written("b"), "the changes after a failed batch")
    }

    /// A reader that excludes an origin receives no changes if all are of that origin, otherwise all changes.
    public static let ownChangesCanBeLeftOut = feed("own changes can be left out") { examination, engine in
        let (mine, other) = (StorageOrigin(), StorageOrigin())
        func write(_ name: String, by origin: StorageOrigin) async throws {
            try await StorageOrigin.$current.withValue(origin) {
                try await engine.write(bytes(name), key: examination.key(name))
            }
        }
        let cursor = try await engine.fetchCursor()
        for name in ["a", "b"] { try await write(name, by: mine) }
        let own = try await examination.allChanges(of: engine, since: cursor, excluding: mine, "all of one origin")
        examination.expectChanges(own?.changes, [], "the changes excluding the origin's own")
        guard let own else { return }
        examination.expect(own.cursor != cursor, "the cursor advances past the origin's own changes")
        let all = try await examination.allChanges(of: engine, since: cursor, "with all origins")
        examination.expectEqual(all?.changes.map(\.origin), [mine, mine], "the origins of the changes")
        for (name, origin) in [("c", mine), ("d", other), ("e", mine)] { try await write(name, by: origin) }
        let mixed = try await examination.allChanges(of: engine, since: own.cursor, excluding: mine, "of several")
        examination.expectChanges(mixed?.changes, examination.written("c", "d", "e"), "the changes of several")
        examination.expectEqual(mixed?.changes.map(\.origin), [mine, other, mine], "the origins of several")
        try await engine.write(bytes("f"), key: examination.key("f"))
        guard let mixed else { return }
        let engines = try await examination.allChanges(
            of: engine, since: mixed.cursor, excluding: mine, "of the engine")
        examination.expectChanges(engines?.changes, examination.written("f"), "the changes without an origin")
    }

    /// An engine doesn't know the cursors of other engines, and a feed from an unknown cursor publishes a snapshot.
    public static let unknownCursorsAreUnknown = feed("unknown cursors are unknown") { examination, engine in
        try await engine.write(bytes("a"), key: examination.key("a"))
        let known = try await engine.fetchCursor()
        let other = StorageEngineConformance.Workspace()
        let foreign = try await examination.configuration.makeEngine(other).backend.log?.fetchCursor()
        try await examination.remove(other)
        let texts = ["", "?", "/", "0", "1/2/3", "-1/-1", "\(Int.max)/1", known.rawValue + "x", "9" + known.rawValue]
        for cursor in texts.map(StorageCursor.init(rawValue:)) + (foreign.map { [$0] } ?? []) {
            let delta = try await engine.fetchChanges(since: cursor, excluding: nil)
            examination.expect(delta == nil, "fetchChanges(since: \(cursor.rawValue.debugDescription)) is nil")
        }
        let update = try await examination.soon("the first event after an unknown cursor") {
            var feed = engine.changes(since: StorageCursor(rawValue: "?")).makeAsyncIterator()
            return try await feed.next()
        }
        guard case .snapshot(let snapshot)?? = update else {
            return examination.record("the first event", expected: "a snapshot", actual: described(update as Any))
        }
        examination.expectItems(snapshot.items, examination.items("a"), "the snapshot after an unknown cursor")
    }

    /// A scan with a cursor passes on the same items as one without. The changes since the cursor are those after the
    /// scan.
    public static let scansHaveTheirCursors = feed("scans have their cursors") { examination, engine in
        var names = ["b", "a"]
        for name in names { try await engine.write(bytes(name), key: examination.key(name)) }
        for (number, fields) in [StorageFields.data, []].enumerated() {
            let (answer, items) = try await examination.scan(engine, ScanRequest(fields: fields, needsCursor: true))
            let subject = number == 0 ? "a scan with a cursor" : "a scan of keys with a cursor"
            examination.expectKeys(items[0].map(\.key), names.map(examination.key), subject)
            if number == 0 {
                let expected: [Item] = names.map { (examination.key($0), bytes($0)) }
                examination.expectItems(items[0].map { ($0.key, $0.data) }, expected, subject)
            }
            guard let cursor = answer.value.cursor else {
                return examination.record(subject, expected: "a cursor", actual: "none")
            }
            let none = try await examination.allChanges(of: engine, since: cursor, "after \(subject)")
            examination.expectChanges(none?.changes, [], "the changes after \(subject)")
            let name = "\(number)"
            try await engine.write(bytes(name), key: examination.key(name))
            let delta = try await examination.allChanges(of: engine, since: cursor, "after \(subject) and a write")
            examination.expectChanges(delta?.changes, examination.written(name), "the changes after \(subject)")
            names.append(name)
        }
    }

    /// Cursors stay valid when the engine is opened again, as do cursors made then.
    public static let cursorsSurviveReopening = Self("cursors survive reopening", requires: .persistent) {
        examination in
        let cursor = Locked<StorageCursor?>(nil)
        try await examination.observing { engine in
            try await engine.write(bytes("before"), key: examination.key("before"))
            let now = try await engine.fetchCursor()
            cursor.withLock { $0 = now }
            try await engine.write(bytes("a"), key: examination.key("a"))
        }
        for name in ["b", "c"] {
            try await examination.observing { engine in
                guard let kept = cursor.withLock({ $0 }) else { return }
                try await engine.write(bytes(name), key: examination.key(name))
                let delta = try await examination.allChanges(of: engine, since: kept, "after reopening")
                let expected = name == "b" ? examination.written("a", "b") : examination.written("c")
                examination.expectChanges(delta?.changes, expected, "the changes after reopening")
                cursor.withLock { $0 = delta?.cursor }
            }
        }
    }

    /// A check of one engine with a change feed.
    static func feed(
        _ name: String,
        requires capabilities: StorageEngineConformance.Capabilities = [],
        needs need: Need? = nil,
        _ body: @escaping @Sendable (Examination, any StorageBackend) async throws -> Void
    ) -> Self {
        Self(name, requires: capabilities, needs: need, appliesTo: { $0.log != nil }, backend: body)
    }
}
