package import Bodega

/// The keys of a keyset that no longer encrypt.
package struct OldKeys {
    private let ids: Set<UInt32>

    /// The keys of a keyset but its primary key.
    package init(of keyset: EncryptionKeyset) {
        ids = Set(keyset.keyIDs).subtracting([keyset.primaryKeyID])
    }

    /// Examines all items of all collections of a store's file or database.
    ///
    /// - Returns: An error that names the collections with items that are encrypted with one of the keys, `nil` if
    ///   there are none.
    /// - Throws: A ``ToolError`` if a collection can't be examined.
    package func stillNeeded(in store: OpenStore) async throws -> ToolError? {
        if ids.isEmpty { return nil }
        var places: [String] = []
        for name in try await store.collectionNames() ?? [] {
            let needsThem = try await examining("\"\(name)\"") {
                try await isNeeded(in: try await store.baseCollection(named: name))
            }
            if needsThem { places.append("\"\(name)\"") }
        }
        let unnamed = try await examining("the unnamed one") {
            try await store.unnamedCollection { try await isNeeded(in: $0) } ?? false
        }
        if unnamed { places.insert("the unnamed one", at: 0) }
        if places.isEmpty { return nil }
        return ToolError(
            .failure,
            """
            The old keys were kept, because items of these collections are encrypted with them: \
            \(places.joined(separator: ", ")). Run the command with --resume for each of these first.
            """)
    }

    private func examining(_ collection: String, _ body: () async throws -> Bool) async throws -> Bool {
        do {
            return try await body()
        } catch let error as StorageError {
            throw ToolError(
                .failure,
                "The old keys were kept, because a collection, \(collection), can't be examined: \(error.summary)")
        }
    }

    private func isNeeded(in engine: any StorageBackend) async throws -> Bool {
        for try await batch in ItemBatches(of: try await engine.fetchKeys(), in: engine) {
            for item in batch {
                if let id = EncryptedItem.keyID(of: item.data), ids.contains(id) { return true }
            }
        }
        return false
    }
}
