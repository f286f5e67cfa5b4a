#if Postgres
public import Bodega

extension PostgresStorageEngine: ReferenceLinks {

    package func fetchLinks(to targets: [String]) async throws -> [ReferenceLink] {
        guard try await database.read(Command(ReferenceTable.exists)).flag(0, 0) else { return [] }
        var answers: [QueryResult] = []
        for command in ReferenceTable.linkCommands { answers.append(try await database.read(command)) }
        return try ReferenceTable.links(answers).links.concerning(targets)
    }
}

extension PostgresStorageEngine: StorageReferences {

    public var references: (any StorageReferences)? { self }

    public func fetchReferences() async throws -> [StorageReference] {
        guard try await database.read(Command(ReferenceTable.exists)).flag(0, 0) else { return [] }
        let rows = try await database.read(Command(ReferenceTable.ofCollection, collectionName))
        return try (0..<rows.count).map { try ReferenceTable.reference(rows, $0) }
    }

    public func isReferenced() async throws -> Bool { try await !fetchLinks(to: [collectionName]).isEmpty }

    /// Declares the references of the collection, in place of all earlier ones. Items that are stored are not examined.
    ///
    /// The first declaration in a database creates the table `emporium_references`, for which the user must have the
    /// right to create tables. Users who may write items may declare references later.
    ///
    /// - Throws: A ``/Bodega/StorageError``: ``/Bodega/StorageError/Code/invalidArgument`` if two are of one member,
    ///   ``/Bodega/StorageError/Code/permissionDenied`` if the user lacks a right,
    ///   ``/Bodega/StorageError/Code/placeRemoved`` if the collection was removed.
    public func declareReferences(_ references: [StorageReference]) async throws {
        try references.check()
        do {
            try await database.perform {
                try await ReferenceTable.declare(references, of: self.collectionName, number: self.number, $0)
            }
        } catch var error as StorageError where error.code == .permissionDenied {
            error.message = """
                The references of the collection "\(collectionName)" are not declared in the database yet, and the \
                user lacks a right to do that. Open the store once as a user who may create tables. \(error.message)
                """
            throw error
        }
    }
}
#endif
