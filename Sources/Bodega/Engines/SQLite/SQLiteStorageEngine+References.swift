import GRDB

extension SQLiteStorageEngine: ReferenceLinks {

    package func fetchLinks(to targets: [String]) async throws -> [ReferenceLink] {
        try await core.readMany { try SQLiteReferences.links(to: targets, in: $0) }
    }
}

extension SQLiteStorageEngine: StorageReferences {

    public var references: (any StorageReferences)? { self }

    public func fetchReferences() async throws -> [StorageReference] {
        try await core.readMany { [table] db in
            let name = try SQLiteCollections.name(of: table, in: db)
            return try name.map { try SQLiteReferences.all(of: $0, in: db).map(\.reference) } ?? []
        }
    }

    public func isReferenced() async throws -> Bool {
        try await core.readMany { [table] db in
            let targets = try SQLiteReferences.all(in: db).map(\.reference.target)
            guard !targets.isEmpty, let name = try SQLiteCollections.name(of: table, in: db) else { return false }
            return targets.contains { $0.hasSameBytes(as: name) }
        }
    }

    public func declareReferences(_ references: [StorageReference]) async throws {
        try references.check()
        try await core.writeUnreported { [table] db in
            guard let name = try SQLiteCollections.name(of: table, in: db) else {
                throw StorageError(.placeRemoved, "The collection was removed. Open it again.")
            }
            try SQLiteReferences.declare(references, of: name, in: db)
        }
    }
}
