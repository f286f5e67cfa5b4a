#if Postgres
import Bodega
import Foundation
import Logging

// A collection is removed in one transaction, which locks the table of items before its snapshot is taken.
//
// - Writers that began before are waited for, and their items are removed.
// - Later writers wait for the transaction, and find no collection when they log their change. A transaction that is
//   SERIALIZABLE, and took its snapshot before, fails because of the removal, and finds that when it is repeated.
// - The number of the collection is not used again.

extension PostgresStorageEngine {

    /// Removes the collection. Does nothing if it was removed.
    func removeCollection() async throws {
        // Without them, the items are removed in less time.
        _ = try await removeIndexes()
        do {
            try await apply(.collectionRemoval)
        } catch let error as StorageError where error.isOfRemovedCollection {
            // Another program has removed it, or an attempt with an unknown outcome did.
        }
        // Those that were completed in the meantime. The program that completes one later removes it.
        for index in try await removeIndexes() {
            bodegaLogger.notice(
                "An index of a removed collection stays, empty: only the owner of the tables can remove it.",
                metadata: ["collection": "\(collectionName)", "index": "\(index)"])
        }
    }

    /// - Returns: The indexes that only the owner of the tables can remove.
    private func removeIndexes() async throws -> [StorageIndex] {
        var rest: [StorageIndex] = []
        for index in try await fetchIndexes() {
            do {
                try await removeIndex(index)
            } catch let error as StorageError where error.code == .permissionDenied {
                rest.append(index)
            }
        }
        return rest
    }

    /// Removes the items, logs that, and removes the collection from the register.
    func removeCollection(
        _ request: ChangeRequest, _ session: Session, _ consequences: WriteConsequences
    ) async throws {
        let patience = patience(forItems: try await count(session))
        let beginning = [
            BatchTransaction.beginSerializable, Command(ItemStatements.lockTable),
            ReferenceMarks.referenced(among: [number]), ItemStatements.removeAll(request, ifUnreferenced: true),
        ]
        let answers = try await session.run(beginning, patience: patience)
        let unregister = Command(CollectionTable.remove, number)
        if try ReferenceMarks.collections(answers[2]).isEmpty {
            try await session.run([unregister, .commit], patience: patience)
            return
        }
        try await BatchTransaction.rollingBackIfReferenced(session) {
            var plan = WritePlan()
            plan.removesAll = true
            var removal = try await ReferencedRemoval(by: self, session)
            _ = try await removal.note(plan, of: self)
            try await session.run(ItemStatements.removeAll(request.shared, ifUnreferenced: false), patience: patience)
            try await removal.finish(consequences, ending: [unregister]) { _ in [] }
        }
    }

    /// The command that returns whether the collection exists.
    var existence: Command { Command(CollectionTable.exists, number) }

    /// Checks that the collection exists. A read does so if it has found nothing, so that other reads need no check.
    ///
    /// - Parameter isAtMoment: Whether it is a read, which answers from the moment of the task, if that has one.
    /// - Throws: ``/Bodega/StorageError/Code/placeRemoved`` if it was removed.
    func checkExistence(isAtMoment: Bool = true) async throws {
        let result = try await database.read(existence, isAtMoment: isAtMoment)
        guard try result.flag(0, 0) else { throw StorageError.collectionRemoved }
    }
}
#endif
