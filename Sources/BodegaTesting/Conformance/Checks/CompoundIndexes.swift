import Bodega
import Foundation

extension StorageEngineConformance.Check {

    /// A range of a compound index has the items with certain keys of its first members, in the order of the next one.
    /// If that is the last member, items with equal keys come in insertion order, and the range continues after places.
    public static let compoundIndexesComeInOrder = queryable("compound indexes come in the order of their keys") {
        examination, engine in
        let index = PairedItem.index
        let half = PairedItem.all.count / 2
        try await PairedItem.write(Array(PairedItem.all[..<half]), to: engine, examination)
        guard let indexes = try await examination.creating(index, on: engine) else { return }
        try await PairedItem.write(Array(PairedItem.all[half...]), to: engine, examination)
        try await engine.write(bytes("no JSON"), key: examination.key("irregular"))
        let existing = try await indexes.fetchIndexes()
        examination.expect(existing.contains(index), "fetchIndexes() has a compound index")
        let irregular = try await examination.entries(of: engine, .irregular(index))
        examination.expectEqual(examination.names(of: irregular), ["irregular"], "the irregular items")
        examination.expect(irregular.allSatisfy { $0.sortKeys.isEmpty }, "irregular items have no sort keys")
        for range in PairedItem.Range.all {
            let entries = try await examination.entries(of: engine, range.scan())
            let expected = range.items(of: PairedItem.all)
            if range.equal.isEmpty {
                // Items with equal keys come in any order.
                examination.expectEqual(
                    entries.map(\.sortKey), expected.map { $0.keys[0] }, "the sort keys of \(range)")
                examination.expectEqual(
                    examination.names(of: entries).sorted(), expected.map(\.name).sorted(), "the items of \(range)")
            } else {
                examination.expectEqual(examination.names(of: entries), expected.map(\.name), "\(range)")
            }
            let keysOfName = Dictionary(uniqueKeysWithValues: PairedItem.all.map { ($0.name, $0.keys) })
            let keys = examination.names(of: entries).map { keysOfName[$0] ?? [] }
            examination.expectEqual(entries.map(\.sortKeys), keys, "the keys of all members in \(range)")
            examination.expectEqual(
                entries.map(\.sortKey), keys.map { $0.dropFirst(range.equal.count).first }, "the keys in \(range)")
            let count = try await examination.count(of: engine, [range.scan()], reading: []).count
            examination.expectEqual(count, expected.count, "the number of items in \(range)")
            let request = FetchRequest(entries.map(\.key), [.data, .place], index: index)
            let fetched = try await engine.fetch(request).value
            examination.expectEqual(fetched.map(\.sortKeys), keys, "the keys in fetch(_:) of \(range)")
            examination.expectEqual(fetched.map(\.sortKey), keys.map(\.last), "the last keys in fetch(_:) of \(range)")
            if range.equal.isEmpty { continue }
            for (number, entry) in entries.enumerated() {
                let rest = try await examination.entries(of: engine, range.scan(entry.place), limit: 2)
                examination.expectEqual(
                    examination.names(of: rest), examination.names(of: Array(entries[(number + 1)...].prefix(2))),
                    "the next two items after \(entry.place) in \(range)")
            }
        }
    }
}

/// An item of the check of a compound index, with its sort keys.
private struct PairedItem: Sendable {
    let name: String
    let json: String
    let keys: [StorageSortKey]

    static let index = StorageIndex(.init("owner.rank", isForText: false), .init("size", isForText: false))

    /// Items with all pairs of some keys, each twice, out of order.
    static let all: [PairedItem] = {
        let values: [(json: String?, key: StorageSortKey)] = [
            ("2", .integer(2)), (nil, .none), ("\"b\"", .text("b")), ("10", .integer(10)),
        ]
        let count = values.count * values.count * 2
        return (0..<count).map { number in
            // Coprime to the number of items.
            let place = number * 5 % count
            let (rank, size) = (values[place % values.count], values[place / values.count % values.count])
            let members = [
                rank.json.map { "\"owner\":{\"rank\":\($0)}" }, size.json.map { "\"size\":\($0)" },
            ]
            let name = "\(number): \(rank.json ?? "-") \(size.json ?? "-")"
            return PairedItem(
                name: name, json: "{\(members.compactMap { $0 }.joined(separator: ","))}", keys: [rank.key, size.key])
        }
    }()

    static func write(_ items: [PairedItem], to engine: any StorageEngine, _ examination: Examination) async throws {
        try await engine.write(items.map { (examination.key($0.name), bytes($0.json)) })
    }

    /// A range of the first member, or of the second one for a key of the first one.
    struct Range: Sendable, CustomStringConvertible {
        let equal: [StorageSortKey]
        let lower, upper: StorageSortKeyBound
        let isDescending: Bool

        static let all: [Range] = {
            let bounds: [(StorageSortKeyBound, StorageSortKeyBound)] = [
                (.start, .before(.none)), (.before(.none), .end), (.after(.integer(2)), .before(.none)),
                (.before(.integer(2)), .after(.integer(2))), (.start, .before(.text("b"))),
            ]
            let equal: [[StorageSortKey]] = [[], [.integer(2)], [.text("b")], [.none], [.integer(3)]]
            return equal.flatMap { equal in
                bounds.flatMap { lower, upper in
                    [false, true].map { Range(equal: equal, lower: lower, upper: upper, isDescending: $0) }
                }
            }
        }()

        var description: String {
            "the range from \(lower) to \(upper) after \(equal)\(isDescending ? ", descending" : "")"
        }

        func scan(_ place: StoragePlace? = nil) -> StorageScan {
            .range(index, equal: equal, from: lower, to: upper, isDescending: isDescending, after: place)
        }

        /// The items in the range in its order, of items in insertion order.
        func items(of items: [PairedItem]) -> [PairedItem] {
            let found = items.filter { item in
                let key = item.keys[equal.count]
                return item.keys.starts(with: equal) && lower <= .before(key) && .before(key) < upper
            }
            return found.enumerated().sorted { left, right in
                let (one, other) = (left.element.keys[equal.count], right.element.keys[equal.count])
                return one == other ? left.offset < right.offset : isDescending ? one > other : one < other
            }
            .map(\.element)
        }
    }
}
