import Bodega
import Foundation

extension StorageEngineConformance.Check {

    /// All checks of scans and indexes.
    public static let queries = [
        scansComeInInsertionOrder, receiversEndScans, scansSeeOneMoment, entriesHaveTheirPlaces, countsAreThoseOfScans,
        indexesAreCreatedAndRemoved, rangesComeInOrderOfTheirKeys, rangesContinueAfterPlaces,
        compoundIndexesComeInOrder,
        partialIndexesHaveWhatTheirConditionNeeds,
        indexesHaveEachItemOnce, indexesFollowWrites,
    ]

    /// A scan of all items passes them on in insertion order, and a scan after a position exactly the later ones. The
    /// positions increase, and an item that is overwritten keeps its own.
    public static let scansComeInInsertionOrder = queryable("scans come in insertion order") { examination, engine in
        func scan(after position: Int? = nil) async throws -> [StorageItem] {
            try await examination.entries(of: engine, .all(after: position))
        }
        examination.expectEntries(try await scan(), [:], "a scan without items")
        try await engine.write(examination.items("m", "z", "a"))
        try await engine.write(bytes("q"), key: examination.key("q"))
        let before = try await scan()
        examination.expectEntries(before, ["m": nil, "z": nil, "a": nil, "q": nil], "a scan after writing")
        try await engine.write(bytes("new z"), key: examination.key("z"))
        try await engine.apply([
            examination.write("m", "new m"), examination.remove("a"), examination.write("a", "new a"),
        ])
        let after = try await scan()
        let expected: KeyValuePairs<String, String?> = ["m": "new m", "z": "new z", "q": nil, "a": "new a"]
        examination.expectEntries(after, expected, "a scan after overwriting two items and moving one to the end")
        let positions = after.map(\.place.position)
        examination.expect(zip(positions, positions.dropFirst()).allSatisfy(<), "the positions of a scan increase")
        examination.expect(after.allSatisfy { $0.place.sortKey == nil }, "a scan of all items has no sort keys")
        guard before.count == 4, after.count == 4 else { return }
        let kept = [before[0], before[1], before[3]].map(\.place.position)
        examination.expectEqual(Array(positions.prefix(3)), kept, "the positions of items that were not removed")
        for (index, position) in positions.enumerated() {
            let rest = examination.lines(of: try await scan(after: position))
            let later = examination.lines(of: Array(after.dropFirst(index + 1)))
            examination.expectEqual(rest, later, "a scan after the position of item \(index)")
        }
        let removed = before[2].place.position
        examination.expectEqual(
            examination.lines(of: try await scan(after: removed)),
            examination.lines(of: after.filter { $0.place.position > removed }),
            "a scan after the position of an item that was removed")
    }

    /// A receiver that returns `false` ends its scan, and the next one of the call begins. A receiver that throws ends
    /// the read with its error.
    public static let receiversEndScans = queryable("receivers end scans") { examination, engine in
        try await engine.write(examination.items("a", "b", "c"))
        let scans = [StorageScan](repeating: .all(after: nil), count: 3)
        let parts = try await examination.entries(of: engine, scans, limits: [2, nil, 1])
        let expected = [["a", "b"], ["a", "b", "c"], ["a"]]
        examination.expectEqual(parts.map(examination.names), expected, "scans that their receiver ends")
        examination.expectEqual(try await examination.entries(of: engine, []).count, 0, "the entries of no scans")
        let count = Locked(0)
        do {
            try await engine.scan(scans) {
                count.withLock { $0 = 0 }
                return { _, _ in
                    try count.withLock { count in
                        count += 1
                        if count == 2 { throw Refusal() }
                        return true
                    }
                }
            }
            examination.record("a scan whose receiver throws", expected: "the receiver's error", actual: "no error")
        } catch is Refusal {
            examination.expectEqual(count.withLock { $0 }, 2, "the number of items until the receiver throws")
        }
        let all = try await examination.entries(of: engine, .all(after: nil))
        examination.expectEntries(all, ["a": nil, "b": nil, "c": nil], "a scan after one whose receiver threw")
    }

    /// While a writer changes items, the scans of one call pass on the same ones, and as many as it counts.
    public static let scansSeeOneMoment = queryable("the scans of one call see one moment") { examination, engine in
        let names = ["a", "b", "c", "d", "e"]
        let scans = [StorageScan](repeating: .all(after: nil), count: 2)
        let (isReading, isWriting) = (Locked(false), Locked(true))
        try await engine.write(names.map { (examination.key($0), bytes("start")) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { isWriting.withLock { $0 = false } }
                // The first read begins before the first change.
                while !isReading.withLock({ $0 }) { await Task.yield() }
                for round in 0..<40 {
                    let start: [StorageOperation] = round % 3 == 0 ? [.removeAll] : []
                    // A batch writes one text to all items, or to all but the last.
                    let writes = names.map { StorageOperation.write(key: examination.key($0), data: bytes("\(round)")) }
                    let end = round % 2 == 0 ? [] : [StorageOperation.remove(key: examination.key("e"))]
                    try await engine.apply(start + writes + end)
                    await Task.yield()
                }
                try await engine.apply([.removeAll, examination.write("end")])
            }
            group.addTask {
                // The writer must not wait for a reader that has failed.
                defer { isReading.withLock { $0 = true } }
                repeat {
                    await Task.yield()
                    let found = try await examination.entries(of: engine, scans) { isReading.withLock { $0 = true } }
                        .map(examination.lines)
                    examination.expectEqual(found[1], found[0], "the second scan of a call, compared with the first")
                    let (count, read) = try await examination.count(of: engine, [scans[0]], reading: [scans[1]])
                    examination.expectEqual(count, read[0].count, "the count of a call, compared with its scan")
                    guard examination.promises(.isolatedBatches) else { continue }
                    let texts = Set(found[0].map { $0.drop { $0 != ":" } })
                    examination.expect(texts.count <= 1, "a scan while batches run sees each batch whole or not at all")
                } while isWriting.withLock { $0 }
            }
            while try await group.next() != nil {}
        }
        let all = try await examination.entries(of: engine, .all(after: nil))
        examination.expectEntries(all, ["end": nil], "a scan after the writer has ended")
    }

    /// Items that are read by their keys have the places of a scan. Absent ones are left out.
    public static let entriesHaveTheirPlaces = queryable("entries have their places") { examination, engine in
        let names = (0..<400).map { "item \($0)" }
        try await engine.write(names.map { (examination.key($0), bytes($0)) })
        try await engine.remove(key: examination.key(names[7]))
        try await engine.write(bytes("new"), key: examination.key(names[3]))
        let all = try await examination.entries(of: engine, .all(after: nil))
        let requests = [
            [names[9], "absent", names[3], names[7], names[0]], [names[7]], [], names.reversed() + ["absent"],
        ]
        for request in requests {
            let keys = request.map { examination.key($0) }
            let found = try await engine.fetch(FetchRequest(keys, [.data, .place])).value
            let (wanted, nameOfEntry) = (Set(request), examination.names(of: all))
            let expected = zip(nameOfEntry, all).filter { wanted.contains($0.0) }.map(\.1)
            examination.expectEqual(
                examination.lines(of: found.sorted { $0.place.position < $1.place.position }),
                examination.lines(of: expected), "fetch(_:) of \(keys.count) keys")
            examination.expectEqual(
                Set(found.map(\.place)), Set(expected.map(\.place)), "the places of \(keys.count) keys")
        }
    }

    /// A count is the number of items that a scan passes on, or stops at a limit.
    public static let countsAreThoseOfScans = queryable("counts are those of scans") { examination, engine in
        var scans = [StorageScan.all(after: nil), .all(after: .max)]
        try await examination.expectCounts(of: engine, scans, "without items")
        try await RankedItem.write(RankedItem.all, to: engine, examination)
        for entry in try await examination.entries(of: engine, .all(after: nil)).prefix(5) {
            scans.append(.all(after: entry.place.position))
        }
        if try await examination.creating(RankedItem.index, on: engine) != nil {
            scans.append(.irregular(RankedItem.index))
            for range in RankedItem.ranges {
                scans.append(range.scan())
                let entries = try await examination.entries(of: engine, range.scan())
                guard entries.count > 1 else { continue }
                for place in [entries[0].place, entries[entries.count / 2].place] { scans.append(range.scan(place)) }
            }
        }
        try await examination.expectCounts(of: engine, scans, "with items")
        let numbers = try await examination.entries(of: engine, scans).map(\.count)
        let (number, read) = try await examination.count(of: engine, scans, reading: [scans[2], scans[0]])
        examination.expectEqual(number, numbers.reduce(0, +), "the count of several scans")
        examination.expectEqual(read.map(\.count), [numbers[2], numbers[0]], "the items read after counting")
    }

    /// A check of an engine with stable positions.
    static func queryable(
        _ name: String,
        _ body: @escaping @Sendable (Examination, any StorageBackend) async throws -> Void
    ) -> Self {
        Self(name, appliesTo: { $0.traits.contains(.stablePositions) }, backend: body)
    }
}

/// The error of a receiver.
private struct Refusal: Error {}

extension Examination {

    /// Compares counts with the numbers of items that the scans pass on.
    fileprivate func expectCounts(
        of engine: any StorageBackend, _ scans: [StorageScan], _ moment: String
    ) async throws {
        for scan in scans {
            let number = try await entries(of: engine, scan).count
            for limit in Set([1, number - 1, number, number + 1, .max]) where limit > 0 {
                let count = try await engine.count(scan, upTo: limit)
                expectEqual(count, min(limit, number), "count(\(scan), upTo: \(limit)) \(moment)")
            }
        }
    }
}
