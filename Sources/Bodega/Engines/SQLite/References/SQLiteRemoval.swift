import Foundation
import GRDB

/// What follows from a removal of items that others name, within the transaction of the removal.
///
/// Its changes have an origin of their own, because they are not what the writer has written: a store that removes an
/// item finds out in the log what else is gone.
struct SQLiteRemoval {

    /// Changes of a collection.
    struct Consequence: Sendable {
        let table: SQLiteTable
        let origin: StorageOrigin
        var commit: StorageCommit?
    }

    private let collection: String
    private let table: SQLiteTable
    private var cascade: ReferenceCascade
    /// The identifiers of the items that are about to be removed.
    private var identifiers: [CacheKey: [ReferenceIdentifier?]] = [:]
    /// Those of the items that are about to be written.
    private let written: [[ReferenceIdentifier?]]

    /// Begins before operations are carried out.
    ///
    /// - Returns: `nil` if they remove nothing that a reference can name.
    init?(of operations: [StorageOperation], from table: SQLiteTable, in db: Database) throws {
        guard operations.contains(where: \.isRemoval) else { return nil }
        guard let (name, links) = try SQLiteReferences.links(to: table, in: db) else { return nil }
        (collection, self.table, cascade) = (name, table, ReferenceCascade(links))
        guard cascade.concerns(name) else { return nil }
        written = cascade.identifiers(ofWrites: operations, in: name)
        if operations.contains(.removeAll) {
            try table.scan(.all(after: nil), [.data], in: db) { item in
                identifiers[item.key] = cascade.identifiers(of: item.data, in: name)
                return true
            }
        } else {
            let keys = operations.compactMap { if case .remove(let key) = $0 { key } else { nil } }
            for start in stride(from: 0, to: keys.count, by: ReferenceCascade.partSize) {
                let part = keys[start..<min(start + ReferenceCascade.partSize, keys.count)]
                for item in try table.items(FetchRequest(Array(part)), in: db) {
                    identifiers[item.key] = cascade.identifiers(of: item.data, in: name)
                }
            }
        }
    }

    /// Finds out which of the items exist nevertheless, after the operations, and before anything follows from a
    /// removal: that could remove such an item as it is now, which must not count as the removal of what it was before.
    mutating func settle(in db: Database) throws {
        guard try table.exists(in: db) else { return }
        for key in try table.existing(among: Array(identifiers.keys), in: db) { identifiers[key] = nil }
    }

    /// Carries out what follows, after all operations of the transaction.
    ///
    /// - Parameters:
    ///   - date: The date of the writes.
    ///   - willChange: Called before the first change.
    ///   - attribute: Changes a collection, and records the origin of the changes in its log.
    /// - Returns: The changes of each collection.
    mutating func finish(
        at date: Date, in db: Database, _ willChange: () throws -> Void,
        attributing attribute: (StorageOrigin, SQLiteTable, () throws -> Void) throws -> StorageCommit?
    ) throws -> [Consequence] {
        cascade.removed(identifiers.values, besides: written, from: collection)
        let origin = StorageOrigin.random().shared
        var consequences: [String: Consequence] = [:]
        while let step = cascade.next(refusing: false) {
            switch step {
            case .read(let collection, let scan): try read(collection, scan, in: db)
            case .apply(let collection, let operations):
                guard let table = try SQLiteCollections.existingTable(of: collection, in: db) else { continue }
                if consequences.isEmpty { try willChange() }
                let commit = try attribute(origin, table) {
                    try table.apply(StorageBatch(operations, origin: origin), at: date, in: db)
                }
                var consequence = consequences[table.name] ?? Consequence(table: table, origin: origin, commit: commit)
                if let commit { consequence.commit?.after = commit.after }
                consequences[table.name] = consequence
            }
        }
        return Array(consequences.values)
    }

    /// Checks that no item is left that refuses the removals, after all that follows from any removal of the
    /// transaction.
    mutating func check(in db: Database) throws {
        while case .read(let collection, let scan) = cascade.next() { try read(collection, scan, in: db) }
    }

    private mutating func read(_ collection: String, _ scan: StorageScan, in db: Database) throws {
        guard let table = try SQLiteCollections.existingTable(of: collection, in: db) else {
            return try cascade.receive([], end: nil)
        }
        var end: StoragePlace?
        var items: [StorageItem] = []
        try table.scan(scan, [.data], in: db) { item in
            try LockHolders.shared.check()
            if cascade.isWanted(item) { items.append(item) }
            guard items.count >= ReferenceCascade.partSize, scan.continued(after: item.place) != nil else {
                return true
            }
            end = item.place
            return false
        }
        try cascade.receive(items, end: end)
    }
}
