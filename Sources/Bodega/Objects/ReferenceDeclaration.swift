import Logging

/// Declares the references of a type of objects to an engine, once, and creates their indexes in the background.
package final class ReferenceDeclaration: Sendable {
    private let isDone: Locked<Bool>
    private let references: [StorageReference]
    private let indexes: [StorageIndex]
    /// The name of the type.
    private let type: String
    /// Why the stored bytes are not the members of the objects, followed by what to do; `nil` if they are.
    private let obstacle: String?
    private let indexCreation = IndexCreation(clock: ContinuousClock())

    /// Creates a declaration.
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - coder: The coder of the objects.
    ///   - isMigrated: Whether the objects are stored with the number of their shape.
    package init<Object: Codable>(of type: Object.Type, codedBy coder: any ObjectCoder, isMigrated: Bool = false) {
        references = Object.storageReferences
        let references = references.filter { !$0.isList }
        indexes =
            references.isEmpty
            ? [] : Object.storageIndexes.filter { index in references.contains { index.isOver($0.path) } }
        self.type = "\(type)"
        obstacle =
            if !(coder is JSONObjectCoder) {
                "its coder does not store JSON. Use the coder .json, or declare no references."
            } else if isMigrated {
                """
                a store with a migration stores items in another form. Decode older items in init(from:) instead of a \
                migration, or declare no references.
                """
            } else {
                nil
            }
        isDone = Locked(self.references.isEmpty)
    }

    /// Declares the references, unless that was done. References at other paths stay: those of a newer version of the
    /// type, or of another one, are not known here.
    ///
    /// - Parameter engine: The engine.
    /// - Throws: A ``StorageError``, with ``StorageError/Code/invalidArgument`` if the engine, or the objects, can have
    ///   none.
    package func declare(to engine: any StorageBackend) async throws {
        if isDone.withLock({ $0 }) { return }
        if let obstacle {
            throw StorageError(
                .invalidArgument, "The references that \(type) declares can't be kept, because \(obstacle)")
        }
        guard let own = engine.references else { throw StorageError.noReferences(type, in: engine) }
        let stored = try await own.fetchReferences()
        // Equal ones are not written again, by which a reader would become a writer.
        if !Set(references).isSubset(of: stored) {
            let paths = Set(references.map { ExactText($0.path) })
            do {
                try await own.declareReferences(stored.filter { !paths.contains(ExactText($0.path)) } + references)
            } catch let error as StorageError where error.code == .readOnly {
                bodegaLogger.debug("References are not declared.", metadata: ["error": "\(error)"])
            }
        }
        indexCreation.begin {
            indexes
        } _: {
            try await engine.createIndexes($0)
        }
        isDone.withLock { $0 = true }
    }
}

extension StorageError {
    fileprivate static func noReferences(_ type: String, in engine: any StorageBackend) -> StorageError {
        StorageError(
            .invalidArgument,
            """
            \(Swift.type(of: engine)) can't keep the references that \(type) declares. Use a collection of \
            SQLiteStorageEngine, MemoryStorageEngine or PostgresStorageEngine, in no wrapper or in one that passes on \
            what the engine can do, such as logged() or cached(). Those that change keys or data, such as \
            encrypted(), can't.
            """)
    }
}
