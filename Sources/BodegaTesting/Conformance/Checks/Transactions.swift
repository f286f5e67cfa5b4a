import Bodega
import Foundation

extension StorageEngineConformance.Check {

    /// All checks of transactions over several collections.
    public static let transactions = [
        groupsApplyTogether, groupsFailTogether, basesAreTheEndOfTheLog, momentsDoNotChange,
    ]

    /// Batches of a group are applied together, and the log says so.
    public static let groupsApplyTogether = inDatabase("the batches of a group are applied together") {
        examination, engine in
        let (a, b, c) = (examination.key("a"), examination.key("b"), examination.key("c"))
        try await engine.write([(b, bytes("1")), (c, bytes("1"))])
        // Into a cache.
        _ = try await engine.fetch(keys: [a, b, c])
        let cursor = try await engine.log?.fetchCursor()
        let origin = StorageOrigin()
        let applied = try await group(
            [
                StorageBatch(
                    [.write(key: a, data: bytes("2"))], if: [StorageCondition(key: a, data: nil)], origin: origin),
                StorageBatch([.write(key: b, data: bytes("2")), .remove(key: c)], origin: origin),
            ], engine)
        examination.expect(applied, "whether a group is applied whose conditions are met")
        try await examination.expectState(of: engine, [(b, bytes("2")), (a, bytes("2"))], "after a group")
        guard let cursor else { return }
        let changes = try await engine.fetchChanges(since: cursor, excluding: nil)?.changes ?? []
        examination.expectEqual(changes.count, 3, "the number of changes of a group")
        examination.expect(
            changes.allSatisfy { $0.origin == origin && $0.origin?.isShared == true },
            "whether the changes of a group have its origin, in the shared form")
    }

    /// No batch of a group is applied if a condition of any of them is not met, or if two of them concern an item.
    public static let groupsFailTogether = inDatabase("no batch of a group is applied if one can't be") {
        examination, engine in
        let (a, b) = (examination.key("a"), examination.key("b"))
        let items = [(key: a, data: bytes("1")), (key: b, data: bytes("1"))]
        try await engine.write(items)
        _ = try await engine.fetch(keys: [a, b])
        for condition in [StorageCondition(key: b, data: nil), StorageCondition(key: b, data: bytes("2"))] {
            let change = StorageBatch(
                [.write(key: a, data: bytes("2"))], if: [StorageCondition(key: a, data: bytes("1"))])
            let unmet = StorageBatch([.remove(key: b)], if: [condition])
            for batches in [[change, unmet], [unmet, change]] {
                examination.expect(try await !group(batches, engine), "whether a group with an unmet condition is not")
                try await examination.expectState(of: engine, items, "after a group that was not applied")
            }
        }
        let batch = StorageBatch([.write(key: a, data: bytes("2"))])
        do {
            _ = try await group([batch, batch], engine)
            examination.record("a group with two batches for an item", expected: "an error", actual: "none")
        } catch let error as StorageError {
            examination.expectEqual(error.code, .invalidArgument, "the error of a group with two batches for an item")
        }
        try await examination.expectState(of: engine, items, "after a group that was refused")
    }

    /// A batch is applied only if its basis is the end of the log.
    public static let basesAreTheEndOfTheLog = inDatabase("a batch is applied only if its basis is the end of the log")
    {
        examination, engine in
        guard let log = engine.log else { return }
        let (a, b) = (examination.key("a"), examination.key("b"))
        try await engine.write(bytes("1"), key: a)
        for count in 1...2 {
            let cursor = try await log.fetchCursor()
            var batches = [
                StorageBatch([.write(key: a, data: bytes("2"))]), StorageBatch([.write(key: b, data: bytes("2"))]),
            ]
            for index in batches.indices { batches[index].basis = cursor }
            batches = Array(batches.prefix(count))
            examination.expect(
                try await group(batches, engine), "whether \(count) batches with the last basis are applied")
            examination.expect(try await !group(batches, engine), "whether they are not applied again")
        }
        try await examination.expectState(of: engine, [(a, bytes("2")), (b, bytes("2"))], "after them")
    }

    /// Reads at one moment don't find what is written later.
    public static let momentsDoNotChange = inDatabase("reads at one moment don't find what is written later") {
        examination, engine in
        guard examination.promises(.moments) else { return }
        let (a, b) = (examination.key("a"), examination.key("b"))
        let items = [(key: a, data: bytes("1"))]
        try await engine.write(items)
        let cursor = try await engine.log?.fetchCursor()
        try await engine.database?.atOneMoment {
            try await examination.expectState(of: engine, items, "at a moment")
            let end = try await engine.log?.fetchCursor()
            // As another task does.
            try await Task.detached { try await engine.write([(a, bytes("2")), (b, bytes("2"))]) }.value
            try await examination.expectState(of: engine, items, "at the same moment")
            guard let cursor, let log = engine.log else { return }
            // Not the cursor from before: two cursors of one state may differ.
            examination.expectEqual(try await log.fetchCursor(), end, "the end of the log at the moment")
            let delta = try await log.fetchChanges(ChangesRequest(since: cursor, needsItems: true)).value
            examination.expectEqual(delta?.changes.count, 0, "the number of changes at the moment")
        }
        try await examination.expectState(of: engine, [(a, bytes("2")), (b, bytes("2"))], "after the moment")
        guard let cursor, let log = engine.log else { return }
        let delta = try await log.fetchChanges(ChangesRequest(since: cursor, needsItems: true)).value
        examination.expectEqual(delta?.changes.count, 2, "the number of changes after the moment")
        examination.expectEqual(delta?.items.count, 2, "the number of their items")
    }

    /// Applies batches as those of several members, which may be on one collection.
    private static func group(_ batches: [StorageBatch], _ engine: any StorageBackend) async throws -> Bool {
        let answers = try await StorageBatchGroup.apply(batches.map { (engine: engine, batch: $0) })
        return answers.allSatisfy(\.value.wasApplied)
    }

    /// A check of an engine with a database.
    private static func inDatabase(
        _ name: String,
        _ body: @escaping @Sendable (Examination, any StorageBackend) async throws -> Void
    ) -> Self {
        Self(name, appliesTo: { $0.database != nil }, backend: body)
    }
}
