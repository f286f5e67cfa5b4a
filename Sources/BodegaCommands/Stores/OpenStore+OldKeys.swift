import Bodega

extension OpenStore {

    /// Examines all items of all collections of the file or database for some keys of a keyset.
    ///
    /// - Returns: An error that names the collections with items that are encrypted with one of the keys, `nil` if
    ///   there are none.
    /// - Throws: A ``ToolError`` if a collection can't be examined.
    func need(forKeys ids: Set<UInt32>) async throws -> ToolError? {
        if ids.isEmpty { return nil }
        var places: [String] = []
        for name in try await collectionNames() ?? [] {
            let isNeeded = try await Self.examining("\"\(name)\"") {
                try await Self.areNeeded(ids, in: try await baseCollection(named: name))
            }
            if isNeeded { places.append("\"\(name)\"") }
        }
        let isNeeded = try await Self.examining("the unnamed one") {
            try await unnamedCollection { try await Self.areNeeded(ids, in: $0) } ?? false
        }
        if isNeeded { places.insert("the unnamed one", at: 0) }
        if places.isEmpty { return nil }
        return ToolError(
            .failure,
            """
            The old keys were kept, because items of these collections are encrypted with them: \
            \(places.joined(separator: ", ")). Run the command with --resume for each of these first.
            """)
    }

    private static func examining(_ collection: String, _ body: () async throws -> Bool) async throws -> Bool {
        do {
            return try await body()
        } catch let error as StorageError {
            throw ToolError(
                .failure,
                "The old keys were kept, because a collection, \(collection), can't be examined: \(error.summary)")
        }
    }

    private static func areNeeded(_ ids: Set<UInt32>, in engine: any StorageBackend) async throws -> Bool {
        for try await batch in ItemBatches(of: try await engine.fetchKeys(), in: engine) {
            for item in batch {
                if let id = EncryptedItem.keyID(of: item.data), ids.contains(id) { return true }
            }
        }
        return false
    }
}
