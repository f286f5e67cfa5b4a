import Bodega
import Foundation

extension StorageEngineConformance.Check {

    static let writing = [
        overwritingReplaces, theLastDuplicateWins, removalsRemoveTheirKeysOnly, removingAbsentItemsIsFine,
        removingAllLeavesNothing,
    ]

    /// Overwriting an item replaces its data with longer or shorter data, and doesn't change other items.
    public static let overwritingReplaces = Self("overwriting replaces an item") { examination, engine in
        try await engine.write(examination.items("other", "item"))
        for data in [bytes("a much longer value than before"), bytes("short"), Data(), bytes("again")] {
            let expected = examination.items("other") + [(examination.key("item"), data)]
            try await engine.write(data, key: examination.key("item"))
            try await examination.expectState(of: engine, expected, "after overwriting with \(data.count) bytes")
        }
    }

    /// Of two items with the same key in one call, the later one wins, at the position of the first.
    public static let theLastDuplicateWins = Self("the last of duplicate keys in one call wins") {
        examination, engine in
        let duplicates: [Item] = [
            (examination.key("a"), bytes("a1")), (examination.key("b"), bytes("b1")),
            (examination.key("a"), bytes("a2")),
            (examination.key("c"), bytes("c1")), (examination.key("b"), bytes("b2")),
            (examination.key("a"), bytes("a3")),
        ]
        let expected: [Item] = [
            (examination.key("a"), bytes("a3")), (examination.key("b"), bytes("b2")),
            (examination.key("c"), bytes("c1")),
        ]
        try await engine.write(duplicates)
        try await examination.expectState(of: engine, expected, "after write(_:) with duplicate keys")
        try await engine.write(duplicates)
        try await examination.expectState(of: engine, expected, "after the same write(_:) again")
        try await engine.removeAllData()
        try await engine.apply(duplicates.map { .write(key: $0.key, data: $0.data) })
        try await examination.expectState(of: engine, expected, "after apply(_:) with duplicate keys")
    }

    /// A removal removes only the items of its keys.
    public static let removalsRemoveTheirKeysOnly = Self("removals remove their keys only") { examination, engine in
        try await engine.write(examination.items("a", "b", "c", "d", "e"))
        try await engine.remove(key: examination.key("b"))
        try await examination.expectState(of: engine, examination.items("a", "c", "d", "e"), "after remove(key:)")
        try await engine.remove(keys: [examination.key("e"), examination.key("a"), examination.key("e")])
        try await examination.expectState(of: engine, examination.items("c", "d"), "after remove(keys:)")
    }

    /// Removing absent items is no error, alone or together with present ones.
    public static let removingAbsentItemsIsFine = Self("removing absent items is fine") { examination, engine in
        try await engine.remove(key: examination.key("absent"))
        try await engine.remove(keys: [examination.key("absent"), examination.key("also absent")])
        try await engine.removeAllData()
        try await engine.apply([examination.remove("absent"), .removeAll])
        try await engine.write(examination.items("a", "b"))
        try await engine.remove(key: examination.key("absent"))
        try await examination.expectState(
            of: engine, examination.items("a", "b"), "after remove(key:) of an absent item")
        try await engine.remove(keys: [examination.key("absent"), examination.key("b")])
        try await engine.apply([examination.remove("absent")])
        try await examination.expectState(of: engine, examination.items("a"), "after remove(keys:) with an absent item")
    }

    /// Removing all items leaves none, and the engine still works.
    public static let removingAllLeavesNothing = Self("removing all items leaves nothing") { examination, engine in
        try await engine.write(examination.items("a", "b", "c"))
        try await engine.removeAllData()
        try await examination.expectState(of: engine, [], "after removeAllData()")
        try await engine.write(examination.items("c", "d"))
        try await examination.expectState(of: engine, examination.items("c", "d"), "after writing again")
    }
}
