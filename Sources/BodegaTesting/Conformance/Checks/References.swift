import Bodega
import Foundation

extension StorageEngineConformance.Check {

    /// All checks of references.
    public static let references = [referencesAreDeclared, removalsHaveConsequences]

    /// References are declared in place of earlier ones, and none if two are of one member.
    public static let referencesAreDeclared = Self(
        "references are declared in place of earlier ones", appliesTo: { $0.references != nil },
        backend: { examination, engine in
            guard let references = engine.references else { return }
            let (a, b) = (examination.key("a"), examination.key("b"))
            let items = [
                (key: a, data: bytes(#"{"id":1,"owner":{"id":"x"}}"#)), (key: b, data: bytes(#"{"tags":["x"]}"#)),
            ]
            try await engine.write(items)
            try await expect(references, [], examination, "before the first declaration")
            let first = [
                StorageReference("owner.id", to: "no collection of this name", onRemoval: .remove),
                StorageReference("e\u{301}", to: "", targetPath: "\u{E9}.id", onRemoval: .refuse),
                StorageReference("\u{E9}", isList: true, to: "no collection of this name", onRemoval: .clear),
            ]
            do {
                try await references.declareReferences(first)
            } catch let error as StorageError where error.code == .permissionDenied {
                // An engine that may not declare any has none.
                return try await expect(references, [], examination, "after a declaration without permission")
            }
            try await expect(references, first, examination, "after the first declaration")
            // What they name does not exist, so nothing follows.
            try await engine.remove(key: b)
            try await examination.expectState(of: engine, [items[0]], "after a removal")
            let second = [StorageReference("owner.id", to: "other", onRemoval: .keep)]
            try await references.declareReferences(second)
            try await expect(references, second, examination, "after the second declaration")
            do {
                try await references.declareReferences(first + second)
                examination.record(
                    "a declaration with two references of a member", expected: "an error", actual: "none")
            } catch let error as StorageError {
                examination.expectEqual(error.code, .invalidArgument, "the error of two references of a member")
            }
            try await expect(references, second, examination, "after a declaration that was refused")
            try await references.declareReferences([])
            try await expect(references, [], examination, "after an empty declaration")
            try await examination.expectState(of: engine, [items[0]], "after all declarations")
        })

    /// A removal does with it what references say, also around a circle, or is refused as a whole. Of an item that it
    /// changes, everything else stays.
    public static let removalsHaveConsequences = Self(
        "what references say happens together with a removal", needs: .collections,
        appliesTo: { $0.references != nil && $0.traits.contains(.conditional) },
        backend: { examination, engine in
            guard let open = examination.configuration.openCollection else { return }
            let named = try await open(engine, namedCollection).backend
            for removal in StorageReference.Removal.allCases {
                do {
                    try await declare(removal, engine, named)
                } catch let error as StorageError where error.code == .permissionDenied {
                    return
                }
                try await expectConsequences(of: removal, engine, named, examination)
                try await engine.removeAllData()
                try await named.removeAllData()
            }
        })

    private static let namedCollection = "named by references"

    private static func declare(
        _ removal: StorageReference.Removal, _ engine: any StorageBackend, _ named: any StorageBackend
    ) async throws {
        try await engine.references?.declareReferences([
            StorageReference("owner", to: namedCollection, onRemoval: removal),
            StorageReference("tags", isList: true, to: namedCollection, onRemoval: removal),
        ])
        try await named.references?.declareReferences([
            StorageReference("next.id", to: namedCollection, onRemoval: removal == .remove ? .remove : .keep)
        ])
    }

    private static func expectConsequences(
        of removal: StorageReference.Removal, _ engine: any StorageBackend, _ named: any StorageBackend,
        _ examination: Examination
    ) async throws {
        let (x, y, z) = (examination.key("x"), examination.key("y"), examination.key("z"))
        // Two that name each other, and one that names itself.
        let targets = [
            (key: x, data: bytes(#"{"id":"x","next":{"id":7}}"#)),
            (key: y, data: bytes(#"{"id":7,"next":{"id":"x"}}"#)),
            (key: z, data: bytes(#"{"id":"z","next":{"id":"z"}}"#)),
        ]
        let (a, b, c) = (examination.key("a"), examination.key("b"), examination.key("c"))
        let others = [
            (key: examination.key("d"), data: bytes(#"{"owner":"z","tags":["z","7","X",null]}"#)),
            (key: examination.key("e"), data: bytes(#"owner x"#)),
            (key: examination.key("f"), data: bytes(#"{"owner":{"id":"x"},"tags":"none"}"#)),
        ]
        let items =
            [
                (key: a, data: bytes(#"{"owner":"x","count":1.50}"#)), (key: b, data: bytes(#"{"owner":7}"#)),
                (key: c, data: bytes(#"{"tags":["x",7,"z","x"],"e":1e2}"#)),
            ] + others
        try await named.write(targets)
        try await engine.write(items)
        // Into a cache.
        _ = try await engine.fetch(keys: items.map(\.key))
        let cursor = try await engine.log?.fetchCursor()

        let moment = "with references that say \"\(removal.rawValue)\""
        // Either of two reasons is one to refuse it.
        if removal != .refuse {
            _ = try await named.apply(StorageBatch([.remove(key: x)], if: [StorageCondition(key: y, data: nil)]))
            try await examination.expectState(of: engine, items, "after a removal with an unmet condition, \(moment)")
        }
        var refusal: StorageError?
        do {
            try await named.remove(key: x)
        } catch let error as StorageError where error.code == .referenced {
            refusal = error
        }
        examination.expectEqual(refusal != nil, removal == .refuse, "whether a removal is refused, \(moment)")
        var (expected, left) = (items, [targets[1], targets[2]])
        switch removal {
        case .remove: (expected, left) = (others, [targets[2]])
        case .clear:
            expected[0].data = bytes(#"{"owner":null,"count":1.50}"#)
            expected[2].data = bytes(#"{"tags":[7,"z"],"e":1e2}"#)
        case .refuse: left = targets
        case .keep: break
        }
        try await examination.expectState(of: engine, expected, "after a removal, \(moment)")
        try await examination.expectState(of: named, left, "of the named items after a removal, \(moment)")
        if let cursor, let changes = try await engine.fetchChanges(since: cursor, excluding: nil)?.changes {
            let changed = Set(items.filter { item in !expected.contains { $0 == item } }.map(\.key))
            examination.expectEqual(Set(changes.map(\.key)), changed, "the keys in the log, \(moment)")
        }
        guard removal == .refuse, engine.database != nil else { return }
        let both = [
            (engine: named, batch: StorageBatch([.remove(key: x)])),
            (engine: engine, batch: StorageBatch([.remove(key: a), .remove(key: c)])),
        ]
        let applied = try await StorageBatchGroup.apply(both).allSatisfy(\.value.wasApplied)
        examination.expect(applied, "whether items are removed together with those that name them")
        try await examination.expectState(of: engine, [items[1]] + others, "after their removal together")
    }

    private static func expect(
        _ references: any StorageReferences, _ expected: [StorageReference], _ examination: Examination,
        _ moment: String
    ) async throws {
        let found = try await references.fetchReferences()
        examination.expectEqual(found.count, expected.count, "the number of references \(moment)")
        examination.expectEqual(Set(found), Set(expected), "the references \(moment)")
    }
}
