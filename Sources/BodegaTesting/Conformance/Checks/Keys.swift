import Bodega
import Foundation

extension StorageEngineConformance.Check {

    static let keys = [
        keysComeBackEqual, kindsOfKeysAreDistinct, similarKeysDiffer, extremeKeysWork, collectionsDiffer,
    ]

    /// Keys of all kinds come back equal to those written.
    public static let keysComeBackEqual = Self("keys come back equal, their kind included", requires: .exactKeys) {
        examination, engine in
        let expected = KeyExamples.kinds.map { ($0, bytes($0.description)) }
        try await engine.write(expected)
        try await examination.expectState(of: engine, expected, "with keys of all kinds")
    }

    /// Keys that differ only in kind, or whose value is another's raw value, name different items, in any order of
    /// writes, overwrites and removals.
    public static let kindsOfKeysAreDistinct = Self(
        "keys of different kinds name different items",
        requires: .exactKeys
    ) { examination, engine in
        let alike = KeyExamples.alike
        for (round, written) in permutations(alike).enumerated() {
            // Each write order is combined with each removal order, so that any two keys that an engine confuses meet.
            for removed in [written, written.reversed(), written.suffix(2) + written.prefix(written.count - 2)] {
                var expected = written.map { (key: $0, data: bytes("\($0), round \(round)")) }
                try await engine.apply(expected.map { .write(key: $0.key, data: $0.data) })
                expected[round % expected.count].data = bytes("overwritten")
                try await engine.write(bytes("overwritten"), key: expected[round % expected.count].key)
                try await examination.expectAll(of: engine, expected, among: alike)
                for key in removed {
                    try await engine.remove(key: key)
                    expected.removeAll { $0.key == key }
                    try await examination.expectAll(of: engine, expected, among: alike)
                }
            }
        }
    }

    /// Keys that differ only in case, Unicode normalization or a space name different items.
    public static let similarKeysDiffer = Self("similar keys name different items", requires: .exactKeys) {
        examination, engine in
        let expected = KeyExamples.similar.map { ($0, bytes("\($0)")) }
        for (key, data) in expected { try await engine.write(data, key: key) }
        try await examination.expectState(of: engine, expected, "with similar keys")
        for (index, item) in expected.enumerated() {
            try await engine.remove(key: item.0)
            try await examination.expectAll(of: engine, Array(expected[(index + 1)...]), among: KeyExamples.similar)
        }
    }

    /// Any string can be a key: empty, 10 kB long, with slashes, dots, NUL, emoji, or longer than a file name may be.
    public static let extremeKeysWork = Self("any string can be a key", requires: .exactKeys) { examination, engine in
        let keys = KeyExamples.extreme(with: examination.configuration.keyTexts)
        for key in keys {
            try await engine.write(bytes("\(key.kind) alone"), key: key)
            try await examination.expectState(of: engine, [(key, bytes("\(key.kind) alone"))], "with one extreme key")
            try await engine.remove(key: key)
            try await examination.expectState(of: engine, [], "after removing an extreme key")
        }
        let expected = keys.enumerated().map { ($1, bytes("\($0)")) }
        try await engine.write(expected)
        try await examination.expectState(of: engine, expected, "with all extreme keys")
        try await engine.remove(keys: keys)
        try await examination.expectState(of: engine, [], "after removing all extreme keys")
    }

    /// Names that differ in any byte are different collections, which share no items.
    public static let collectionsDiffer = Self("different names are different collections", needs: .collections) {
        examination, engine in
        guard let open = examination.configuration.openCollection else { return }
        let key = CacheKey("name")
        var opened: [(name: String, collection: any StorageEngine)] = []
        for name in HostileTexts.all where !name.isEmpty {
            do {
                let collection = try await open(engine, name)
                try await collection.write(bytes(name), key: key)
                opened.append((name, collection))
            } catch let error as StorageError where error.code == .invalidArgument {
                // A name that can't be used can't be confused with another.
            } catch {
                examination.record("the collection \(described(text: name))", expected: "no error", actual: "\(error)")
            }
        }
        for (name, collection) in opened {
            for (collection, moment) in [(collection, ""), (try await open(engine, name), ", opened again")] {
                let subject = "fetchAll() of the collection \(described(text: name))\(moment)"
                examination.expectItems(try await collection.fetchAll(), [(key, bytes(name))], subject)
            }
        }
        try await examination.expectState(of: engine, [], "next to other collections")
    }
}

extension Examination {
    /// Compares the items, and checks that the other keys have none.
    fileprivate func expectAll(of engine: any StorageEngine, _ expected: [Item], among keys: [CacheKey]) async throws {
        let moment = "with \(expected.map { described($0.key) }.joined(separator: ", "))"
        expectItems(try await engine.fetchAll(), expected, "fetchAll() \(moment)")
        let byKey = Dictionary(uniqueKeysWithValues: expected.map { ($0.key, $0.data) })
        for key in keys {
            expectEqual(try await engine.fetch(key: key), byKey[key], "fetch(key: \(described(key))) \(moment)")
        }
    }
}

private func permutations<Element>(_ elements: [Element]) -> [[Element]] {
    guard elements.count > 1 else { return [elements] }
    return elements.indices.flatMap { index in
        var rest = elements
        let first = rest.remove(at: index)
        return permutations(rest).map { [first] + $0 }
    }
}
