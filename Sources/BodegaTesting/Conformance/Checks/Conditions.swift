import Bodega
import Foundation

extension StorageEngineConformance.Check {

    /// All checks of conditional batches.
    public static let conditions = [metConditionsApply, unmetConditionsChangeNothing, concurrentIncrementsLoseNothing]

    /// A batch is applied if all items are in the expected state.
    public static let metConditionsApply = conditional("a batch whose conditions are met is applied") {
        examination, engine in
        let (a, b, c) = (examination.key("a"), examination.key("b"), examination.key("c"))
        try await engine.write([(a, bytes("1")), (b, Data())])
        func expectApplied(_ operations: [StorageOperation], _ conditions: [StorageCondition], _ moment: String)
            async throws
        {
            examination.expectEqual(try await engine.apply(operations, if: conditions), true, "apply(_:if:) \(moment)")
        }
        try await expectApplied([], [StorageCondition(key: a, data: bytes("1"))], "without operations")
        try await expectApplied([.write(key: c, data: bytes("3"))], [], "without conditions")
        try await expectApplied(
            [.write(key: a, data: bytes("2")), .remove(key: c)],
            [
                StorageCondition(key: a, data: bytes("1")), StorageCondition(key: b, data: Data()),
                StorageCondition(key: examination.key("absent"), data: nil),
                StorageCondition(key: a, data: bytes("1")),
            ],
            "with conditions that are met")
        try await examination.expectState(of: engine, [(a, bytes("2")), (b, Data())], "after conditional batches")
        try await expectApplied([.removeAll], [StorageCondition(key: a, data: bytes("2"))], "that removes all items")
        try await examination.expectState(of: engine, [], "after a conditional removal of all items")
    }

    /// A batch of which one condition is not met changes nothing.
    public static let unmetConditionsChangeNothing = conditional(
        "a batch of which a condition is not met changes nothing"
    ) { examination, engine in
        let (a, b) = (examination.key("a"), examination.key("b"))
        let absent = examination.key("absent")
        let items = [(key: a, data: bytes("1")), (key: b, data: Data())]
        try await engine.write(items)
        let met = StorageCondition(key: a, data: bytes("1"))
        let unmet = [
            StorageCondition(key: a, data: bytes("2")), StorageCondition(key: a, data: nil),
            StorageCondition(key: a, data: Data()), StorageCondition(key: b, data: nil),
            StorageCondition(key: absent, data: Data()), StorageCondition(key: absent, data: bytes("1")),
        ]
        let cursor = try await engine.log?.fetchCursor()
        for condition in unmet {
            for conditions in [[condition], [condition, met], [met, condition]] {
                let operations: [StorageOperation] = [
                    .removeAll, .write(key: a, data: bytes("changed")), .write(key: absent, data: bytes("new")),
                ]
                examination.expectEqual(
                    try await engine.apply(operations, if: conditions), false,
                    "apply(_:if:) with the condition that \(condition.key) is \(described(condition.data as Any))")
            }
        }
        try await examination.expectState(of: engine, items, "after batches that were not applied")
        if let cursor {
            let delta = try await engine.fetchChanges(since: cursor, excluding: nil)
            examination.expectEqual(delta?.changes.count, 0, "the number of changes of batches that were not applied")
        }
    }

    /// Tasks that increment a number concurrently, each with a condition, lose no increment.
    public static let concurrentIncrementsLoseNothing = conditional("concurrent increments lose nothing") {
        examination, engine in
        let (tasks, rounds) = (8, 25)
        let key = examination.key("counter")
        _ = try await atOnce(Array(0..<tasks)) { _ in
            for _ in 0..<rounds {
                while true {
                    let old = try await engine.fetch(key: key)
                    let number = old.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
                    let write = StorageOperation.write(key: key, data: bytes("\(number + 1)"))
                    if try await engine.apply([write], if: [StorageCondition(key: key, data: old)]) { break }
                }
            }
        }
        examination.expectEqual(
            try await engine.fetch(key: key), bytes("\(tasks * rounds)"), "the number after concurrent increments")
    }

    /// A check of an engine with conditional batches.
    private static func conditional(
        _ name: String,
        _ body: @escaping @Sendable (Examination, any StorageBackend) async throws -> Void
    ) -> Self {
        Self(name, appliesTo: { $0.traits.contains(.conditional) }, backend: body)
    }
}
