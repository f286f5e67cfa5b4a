import Bodega
import Foundation

extension StorageEngineConformance.Check {

    /// A partial index has all items that meet its condition, those without the member, and those about which the
    /// engine knows nothing, also after an item was changed so that it meets the condition or no longer does.
    public static let partialIndexesHaveWhatTheirConditionNeeds = queryable(
        "partial indexes have what their condition needs"
    ) { examination, engine in
        let index = StorageIndex("size", isForText: false).where("owner.rank", equals: .integer(1), isForText: false)
        func write(_ items: [(name: String, json: String)]) async throws {
            try await engine.write(items.map { (examination.key($0.name), bytes($0.json)) })
        }
        func range(_ rank: StorageSortKey) -> StorageScan {
            .range(index, equal: [rank], from: .start, to: .before(.none), isDescending: false, after: nil)
        }
        func expectItems(_ rank: StorageSortKey, _ names: [String], _ moment: String) async throws {
            let subject = "the items of a partial index with the key \(rank), \(moment)"
            let entries = try await examination.entries(of: engine, range(rank))
            examination.expectEqual(examination.names(of: entries), names, subject)
            let count = try await examination.count(of: engine, [range(rank)], reading: []).count
            examination.expectEqual(count, names.count, "the number of \(subject)")
        }
        try await write([
            ("a", #"{"owner":{"rank":1},"size":3}"#), ("b", #"{"owner":{"rank":2},"size":2}"#),
            ("c", #"{"owner":{"rank":1},"size":1}"#),
            ("d", #"{"size":5}"#), ("irregular", "no JSON"),
        ])
        guard let indexes = try await examination.creating(index, on: engine) else { return }
        let existing = try await indexes.fetchIndexes()
        examination.expect(existing.contains(index), "fetchIndexes() has a partial index")
        examination.expect(
            !existing.contains(StorageIndex(index.first, index.others)),
            "fetchIndexes() has no index of all items in place of a partial one")
        try await expectItems(.integer(1), ["c", "a"], "after it was created")
        try await expectItems(.none, ["d"], "after it was created")
        try await write([
            ("a", #"{"owner":{"rank":2},"size":3}"#), ("b", #"{"owner":{"rank":1},"size":2}"#),
            ("e", #"{"owner":{"rank":true},"size":4}"#),
            ("f", #"{"owner":{"rank":null},"size":0}"#), ("late", "not JSON"),
        ])
        try await expectItems(.integer(1), ["c", "b", "e"], "after items were changed")
        try await expectItems(.none, ["f", "d"], "after items were changed")
        let irregular = try await examination.entries(of: engine, .irregular(index))
        examination.expectEqual(
            examination.names(of: irregular), ["irregular", "late"], "the irregular items of a partial index")
        try await engine.remove(key: examination.key("c"))
        try await expectItems(.integer(1), ["b", "e"], "after an item was removed")
    }
}
