import Bodega

/// An engine on a collection whose references are declared, but not kept.
///
/// An engine that keeps them changes the albums itself when a favourite is removed, on each device at another moment,
/// and sends others nothing of it. In a gallery that is synchronized, the controllers change the albums, so that all
/// devices get the same. An album can then name a favourite that another device has removed, which no page shows.
struct UnkeptReferences: ForwardingStorageEngine {
    let base: any StorageBackend

    var references: (any StorageReferences)? { Declared() }

    private struct Declared: StorageReferences {
        func fetchReferences() async throws -> [StorageReference] { [] }
        func declareReferences(_ references: [StorageReference]) async throws {}
    }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: @concurrent () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        try await body()
    }
}
