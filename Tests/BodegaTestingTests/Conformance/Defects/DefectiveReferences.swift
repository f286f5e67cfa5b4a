import Bodega
import BodegaTesting

/// A defect of references.
enum ReferenceDefect: String, CaseIterable, Sendable {
    case forgets, addsToEarlierOnes, acceptsTwoOfOneMember

    /// The check that must find it.
    var check: StorageEngineConformance.Check { .referencesAreDeclared }
}

/// An engine whose references have one defect.
struct DefectiveReferences: ForwardingStorageEngine {
    let base: any StorageBackend
    let defect: ReferenceDefect

    var references: (any StorageReferences)? { base.references.map { Declarations(base: $0, defect: defect) } }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> { try await body() }

    private struct Declarations: StorageReferences {
        let base: any StorageReferences
        let defect: ReferenceDefect

        func fetchReferences() async throws -> [StorageReference] { try await base.fetchReferences() }

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
            }
        }
    }
}
