import Bodega
import BodegaTesting

/// A defect of references.
enum ReferenceDefect: String, CaseIterable, Sendable {
    case forgets, addsToEarlierOnes, acceptsTwoOfOneMember
    case ignoresRemovals, clearsInsteadOfRemoving, removesInsteadOfRefusing, ignoresCircles

    /// The check that must find it.
    var check: StorageEngineConformance.Check {
        switch self {
        case .forgets, .addsToEarlierOnes, .acceptsTwoOfOneMember: .referencesAreDeclared
        case .ignoresRemovals, .clearsInsteadOfRemoving, .removesInsteadOfRefusing, .ignoresCircles:
            .removalsHaveConsequences
        }
    }
}

/// An engine whose references have one defect.
struct DefectiveReferences: ForwardingStorageEngine {
    let base: any StorageBackend
    let defect: ReferenceDefect
    private let declared = Locked<[StorageReference]?>(nil)

    init(base: any StorageBackend, defect: ReferenceDefect) { (self.base, self.defect) = (base, defect) }

    var references: (any StorageReferences)? {
        base.references.map { Declarations(base: $0, defect: defect, declared: declared) }
    }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> { try await body() }

    private struct Declarations: StorageReferences {
        let base: any StorageReferences
        let defect: ReferenceDefect
        /// What was declared, if the base was given something else.
        let declared: Locked<[StorageReference]?>

        func fetchReferences() async throws -> [StorageReference] {
            if let declared = declared.withLock({ $0 }) { return declared }
            return try await base.fetchReferences()
        }

        private func declare(_ references: [StorageReference], as other: [StorageReference]) async throws {
            try await base.declareReferences(other)
            declared.withLock { $0 = references }
        }

        private func replacing(
            _ removal: StorageReference.Removal, by other: StorageReference.Removal, _ references: [StorageReference]
        ) -> [StorageReference] {
            references.map { reference in
                var reference = reference
                if reference.onRemoval == removal { reference.onRemoval = other }
                return reference
            }
        }

        func declareReferences(_ references: [StorageReference]) async throws {
            switch defect {
            case .forgets: try await base.declareReferences(references.dropLast())
            case .addsToEarlierOnes:
                let paths = Set(references.map(\.path))
                let earlier = try await base.fetchReferences().filter { !paths.contains($0.path) }
                try await base.declareReferences(earlier + references)
            case .acceptsTwoOfOneMember:
                var paths: Set<String> = []
                try await base.declareReferences(references.filter { paths.insert($0.path).inserted })
            case .ignoresRemovals: try await declare(references, as: [])
            case .clearsInsteadOfRemoving:
                try await declare(references, as: replacing(.remove, by: .clear, references))
            case .removesInsteadOfRefusing:
                try await declare(references, as: replacing(.refuse, by: .remove, references))
            case .ignoresCircles:
                try await declare(references, as: references.filter { $0.path != "next.id" })
            }
        }
    }
}
