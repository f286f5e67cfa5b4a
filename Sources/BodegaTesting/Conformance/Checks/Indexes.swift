import Bodega
import Foundation

extension StorageEngineConformance.Check {

    /// An index that was created is listed until it is removed. Neither creating an existing index nor removing an
    /// absent one is an error.
    public static let indexesAreCreatedAndRemoved = queryable("indexes are created and removed") {
        examination, engine in
        let (index, other) = (RankedItem.index, StorageIndex("other"))
        try await engine.indexes?.removeIndex(index)
        try await RankedItem.write([RankedItem("a", 1)], to: engine, examination)
        guard let indexes = try await examination.creating(index, on: engine) else {
            try await engine.indexes?.removeIndex(index)
            return
        }
        func expectIndexes(_ expected: Set<StorageIndex>, _ moment: String) async throws {
            let existing = try await indexes.fetchIndexes().intersection([index, other])
            examination.expectEqual(existing, expected, "fetchIndexes() \(moment)")
        }
        try await expectIndexes([index], "after creating one")
        try await indexes.createIndex(index)
        try await indexes.createIndex(other)
        try await expectIndexes([index, other], "after creating two, one of them twice")
        let forText = StorageIndex(index.path, isForText: true)
        let existing = try await indexes.fetchIndexes()
        examination.expect(!existing.contains(forText), "fetchIndexes() has no index for text over the same path")
        try await indexes.removeIndex(index)
        try await indexes.removeIndex(index)
        try await expectIndexes([other], "after removing one twice")
        try await indexes.createIndex(index)
        try await indexes.removeIndex(other)
        try await expectIndexes([index], "after creating one again and removing the other")
        let found = try await examination.entries(of: engine, RankedItem.Range.values.scan())
        examination.expectEqual(examination.names(of: found), ["a"], "the items in an index that was created again")
    }

    /// Ranges of an index come in the order of their sort keys, ascending or descending. Items with equal keys come in
    /// insertion order in both.
    public static let rangesComeInOrderOfTheirKeys = queryable("ranges come in the order of their keys") {
        examination, engine in
        let items = RankedItem.all
        let half = items.count / 2
        try await RankedItem.write(Array(items[..<half]), to: engine, examination)
        guard try await examination.creating(RankedItem.index, on: engine) != nil else { return }
        try await RankedItem.write(Array(items[half...]), to: engine, examination)
        let regular = try await examination.regularItems(of: engine, among: items)
        let all = try await examination.entries(of: engine, .all(after: nil))
        let positions = zip(examination.names(of: all), all).map { ($0, $1.place.position) }
        let positionOfName = Dictionary(positions) { first, _ in first }
        for range in RankedItem.ranges {
            let entries = try await examination.entries(of: engine, range.scan())
            let expected = range.items(of: regular)
            examination.expectEqual(
                examination.lines(of: entries), expected.map { "\($0.name): \($0.json)" }, "\(range)")
            let places = expected.map { StoragePlace(sortKey: $0.key, position: positionOfName[$0.name] ?? -1) }
            examination.expectEqual(entries.map(\.place), places, "the places of \(range)")
            let request = FetchRequest(entries.map(\.key), [.data, .place], index: RankedItem.index)
            let fetched = try await engine.fetch(request).value
            examination.expectEqual(Set(fetched.map(\.place)), Set(places), "the places in fetch(_:) of \(range)")
        }
    }

    /// A range after a place has the rest of the range, in the same order.
    public static let rangesContinueAfterPlaces = queryable("ranges continue after places") { examination, engine in
        try await RankedItem.write(RankedItem.all, to: engine, examination)
        guard try await examination.creating(RankedItem.index, on: engine) != nil else { return }
        for range in RankedItem.ranges {
            let whole = try await examination.entries(of: engine, range.scan())
            for (index, entry) in whole.enumerated() {
                let rest = try await examination.entries(of: engine, range.scan(entry.place), limit: 3)
                examination.expectEqual(
                    examination.names(of: rest), examination.names(of: Array(whole[(index + 1)...].prefix(3))),
                    "the next three items after \(entry.place) in \(range)")
            }
        }
    }

    /// Every item is either in the range of the items with a value, or in that of the items without one, or among those
    /// about which the index knows nothing. Any item can be written, JSON or not.
    public static let indexesHaveEachItemOnce = queryable("indexes have each item once") { examination, engine in
        let unusual = RankedItem.unusual.map { ($0, $1) }
        let half = unusual.count / 2
        let text = StorageIndex(RankedItem.index.path)
        for (name, data) in unusual[..<half] { try await engine.write(data, key: examination.key(name)) }
        for index in [RankedItem.index, text] {
            guard try await examination.creating(index, on: engine) != nil else { return }
        }
        try await RankedItem.write(RankedItem.all, to: engine, examination)
        try await engine.write(unusual[half...].map { (examination.key($0), $1) })
        let names = (RankedItem.all.map(\.name) + unusual.map(\.0)).sorted()
        for index in [RankedItem.index, text] {
            let scans = [
                RankedItem.Range.values.scan(of: index), RankedItem.Range.none.scan(of: index), .irregular(index),
            ]
            let parts = try await examination.entries(of: engine, scans)
            let kind = index.isForText ? "an index for text" : "an index"
            examination.expectEqual(
                parts.flatMap(examination.names).sorted(), names, "the items in all parts of \(kind)")
            let positions = parts[2].map(\.place.position)
            examination.expectEqual(positions, positions.sorted(), "the positions of irregular items of \(kind)")
            examination.expect(
                parts[2].allSatisfy { $0.place.sortKey == nil }, "irregular items of \(kind) have no sort keys")
        }
    }

    /// An index is up to date after each write and removal.
    public static let indexesFollowWrites = queryable("indexes follow writes") { examination, engine in
        guard let indexes = try await examination.creating(RankedItem.index, on: engine) else { return }
        func expectValues(_ expected: [String], without: [String] = [], _ moment: String) async throws {
            let scans = [RankedItem.Range.values.scan(), RankedItem.Range.none.scan()]
            let parts = try await examination.entries(of: engine, scans).map(examination.names)
            examination.expectEqual(parts, [expected, without], "the items with and without a value \(moment)")
        }
        func item(_ name: String, _ rank: Int) -> Item {
            (examination.key(name), bytes(RankedItem(name, rank).json))
        }
        func write(_ name: String, _ rank: Int) async throws {
            let item = item(name, rank)
            try await engine.write(item.data, key: item.key)
        }
        try await engine.write([item("a", 1), item("b", 2), item("c", 3)])
        try await expectValues(["a", "b", "c"], "after writing")
        try await write("a", 20)
        try await expectValues(["b", "c", "a"], "after overwriting")
        try await engine.write(bytes("{}"), key: examination.key("b"))
        try await expectValues(["c", "a"], without: ["b"], "after overwriting with an item without a value")
        let (d, b) = (item("d", 5), item("b", 4))
        try await engine.apply([
            .write(key: d.key, data: d.data), examination.remove("c"), .write(key: b.key, data: b.data),
        ])
        try await expectValues(["b", "d", "a"], "after a batch")
        try await engine.write(bytes("no JSON"), key: examination.key("d"))
        try await write("d", 30)
        try await engine.remove(key: examination.key("a"))
        try await write("a", 30)
        try await expectValues(["b", "d", "a"], "after overwriting with an item that is not JSON, and removing")
        try await indexes.removeIndex(RankedItem.index)
        try await write("b", 40)
        try await engine.remove(key: examination.key("d"))
        try await indexes.createIndex(RankedItem.index)
        try await expectValues(["a", "b"], "after writes without the index")
        try await engine.apply([.removeAll])
        try await expectValues([], "after removing all items")
        try await write("e", 1)
        try await expectValues(["e"], "after removing all items and writing one")
    }
}

extension Examination {

    /// The items whose sort keys an index knows. Plain items with an integer must be among them.
    fileprivate func regularItems(
        of engine: any StorageBackend, among items: [RankedItem]
    ) async throws -> [RankedItem] {
        let irregular = Set(names(of: try await entries(of: engine, .irregular(RankedItem.index))))
        return items.filter { item in
            guard irregular.contains(item.name) else { return true }
            if case .integer(let number) = item.key, item.name == "\(number)" {
                record("the sort key of \(item.json)", expected: "\(number)", actual: "an irregular item")
            }
            return false
        }
    }
}
