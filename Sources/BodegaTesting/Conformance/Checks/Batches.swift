import Bodega
import Foundation

extension StorageEngineConformance.Check {

    static let batches = [
        batchesApplyInOrder, batchesCanRemoveAllInTheMiddle, failedBatchesChangeNothing, manyItemsFitOneCall,
    ]

    /// The operations of a batch take effect in order, including several on one key.
    public static let batchesApplyInOrder = Self("batches apply in order") { examination, engine in
        try await engine.write(examination.items("a", "b", "c"))
        let (a, b, c, d, e) = (
            examination.key("a"), examination.key("b"), examination.key("c"), examination.key("d"), examination.key("e")
        )
        try await engine.apply([
            .write(key: d, data: bytes("d1")), .remove(key: a), .write(key: b, data: bytes("b2")),
            .write(key: e, data: bytes("e")), .remove(key: e), .remove(key: c), .write(key: c, data: bytes("c2")),
            .write(key: d, data: bytes("d2")),
        ])
        let expected = [(b, bytes("b2")), (d, bytes("d2")), (c, bytes("c2"))]
        try await examination.expectState(of: engine, expected, "after a mixed batch")
    }

    /// A batch that removes all items keeps what it writes afterwards, and nothing that it wrote before.
    public static let batchesCanRemoveAllInTheMiddle = Self("batches can remove all items in the middle") {
        examination, engine in
        try await engine.write(examination.items("a", "b"))
        try await engine.apply([
            examination.write("x"), examination.write("b", "lost"), .removeAll, examination.write("c"),
            examination.write("b"),
        ])
        try await examination.expectState(of: engine, examination.items("c", "b"), "after a batch with removeAll in it")
        try await engine.apply([examination.write("d"), .removeAll])
        try await examination.expectState(of: engine, [], "after a batch that ends with removeAll")
    }

    /// A batch that fails changes nothing, wherever in the batch the failure is.
    public static let failedBatchesChangeNothing = Self(
        "a failed batch changes nothing",
        requires: .atomicBatches,
        needs: .refusedOperation
    ) { examination, engine in
        let expected = examination.items("a", "b", "c")
        try await engine.write(expected)
        guard let refused = try await examination.configuration.refuseOperation?(engine, examination.workspace) else {
            return
        }
        let changes: [StorageOperation] = [
            examination.write("a", "changed"), examination.remove("b"),
            examination.write("new"),
        ]
        // No removal of all items follows the refused operation, because an engine could then skip the latter.
        var batches = (0...changes.count).map { place in changes[..<place] + [refused] + changes[place...] }
        batches.append([.removeAll] + changes + [refused])
        batches.append(changes + [.removeAll, refused])
        for (number, batch) in batches.enumerated() {
            let moment = "after batch \(number + 1) of \(batches.count) with a refused operation"
            do {
                try await engine.apply(Array(batch))
                examination.record("apply(_:) with a refused operation", expected: "an error", actual: "success")
            } catch {}
            try await examination.expectState(of: engine, expected, moment)
        }
        try await engine.write(bytes("d"), key: examination.key("d"))
        try await examination.expectState(of: engine, expected + examination.items("d"), "after another write")
    }

    /// The configured number of items, 120,000 by default, can be written, read, searched and removed in one call each.
    public static let manyItemsFitOneCall = Self("many items fit one call") { examination, engine in
        let count = examination.configuration.largestBatch
        let many: [Item] = (0..<count).map { (CacheKey("item \($0)"), bytes("value \($0)")) }
        let keys = many.map(\.key)
        try await engine.write(many)
        examination.expectEqual(try await engine.fetchCount(), count, "fetchCount() after write(_:) of \(count) items")
        try await examination.expectItems(of: engine, keys: keys, many, "with \(count) keys")
        examination.expectItems(try await engine.fetchAll(), many, "fetchAll() of \(count) items")
        try await engine.remove(keys: Array(keys.dropFirst()))
        try await examination.expectState(of: engine, Array(many.prefix(1)), "after remove(keys:) of all but one")
        try await engine.apply(keys.map { .remove(key: $0) })
        try await examination.expectState(of: engine, [], "after apply(_:) with \(count) removals")
    }
}
