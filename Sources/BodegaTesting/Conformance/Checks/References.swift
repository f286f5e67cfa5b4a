import Bodega
import Foundation

extension StorageEngineConformance.Check {

    /// All checks of references.
    public static let references = [referencesAreDeclared]

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

    private static func expect(
        _ references: any StorageReferences, _ expected: [StorageReference], _ examination: Examination,
        _ moment: String
    ) async throws {
        let found = try await references.fetchReferences()
        examination.expectEqual(found.count, expected.count, "the number of references \(moment)")
        examination.expectEqual(Set(found), Set(expected), "the references \(moment)")
    }
}
