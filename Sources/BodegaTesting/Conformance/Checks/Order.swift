import Bodega
import Foundation

extension StorageEngineConformance.Check {

    static let order = [
        itemsComeInInsertionOrder, overwritingKeepsThePlace, writingAgainMovesToTheEnd, readingFollowsTheKeys,
        duplicateKeysAreAnsweredTwice,
    ]

    /// Items come in the order in which they were written, not in the order of their keys.
    public static let itemsComeInInsertionOrder = Self("items come in insertion order", requires: .ordered) {
        examination, engine in
        try await engine.write(examination.items("m", "z", "a"))
        for item in examination.items("q", "b") { try await engine.write(item.data, key: item.key) }
        try await engine.apply(examination.items("y", "c").map { .write(key: $0.key, data: $0.data) })
        let expected = examination.items("m", "z", "a", "q", "b", "y", "c")
        try await examination.expectState(of: engine, expected, "after writing out of alphabetical order")
    }

    /// An item that is overwritten, alone or in a batch, keeps its position.
    public static let overwritingKeepsThePlace = Self("overwriting keeps the place", requires: .ordered) {
        examination, engine in
        var expected = examination.items("c", "a", "d", "b")
        try await engine.write(expected)
        expected[1].data = bytes("new a")
        try await engine.write(bytes("new a"), key: examination.key("a"))
        try await examination.expectState(of: engine, expected, "after overwriting with write(_:key:)")
        expected[0].data = bytes("new c")
        expected[3].data = bytes("new b")
        try await engine.write([expected[3], expected[0]])
        try await examination.expectState(of: engine, expected, "after overwriting with write(_:)")
        expected[2].data = bytes("new d")
        try await engine.apply([examination.write("d", "new d")])
        try await examination.expectState(of: engine, expected, "after overwriting with apply(_:)")
    }

    /// An item that is removed and written again comes last.
    public static let writingAgainMovesToTheEnd = Self(
        "removing and writing again moves an item to the end",
        requires: .ordered
    ) { examination, engine in
        try await engine.write(examination.items("a", "b", "c"))
        try await engine.remove(key: examination.key("a"))
        try await engine.write(bytes("a"), key: examination.key("a"))
        try await examination.expectState(of: engine, examination.items("b", "c", "a"), "after two calls")
        try await engine.apply([examination.remove("b"), examination.write("b")])
        try await examination.expectState(of: engine, examination.items("c", "a", "b"), "after one batch")
        // The last item is the one whose position an engine might reuse.
        try await engine.remove(key: examination.key("b"))
        try await engine.write(examination.items("d", "b"))
        try await examination.expectState(of: engine, examination.items("c", "a", "d", "b"), "after removing the last")
    }

    /// Methods that take keys return items in the order of the keys and skip absent ones.
    public static let readingFollowsTheKeys = Self(
        "reading follows the keys and skips absent ones",
        requires: .ordered
    ) { examination, engine in
        try await engine.write(examination.items("a", "b", "c", "d"))
        let keys = ["d", "absent", "a", "c", "gone"].map { examination.key($0) }
        try await examination.expectItems(
            of: engine, keys: keys, examination.items("d", "a", "c"), "with keys in another order")
    }

    /// A key that is requested twice is returned twice.
    public static let duplicateKeysAreAnsweredTwice = Self("duplicate keys are answered twice") { examination, engine in
        try await engine.write(examination.items("a", "b"))
        let keys = ["b", "a", "b", "b", "absent", "absent"].map { examination.key($0) }
        try await examination.expectItems(
            of: engine, keys: keys, examination.items("b", "a", "b", "b"), "with duplicate keys")
    }
}
