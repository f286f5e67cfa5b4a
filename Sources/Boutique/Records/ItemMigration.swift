import Bodega

/// The shapes that an item has had in earlier versions of a program, and how one becomes the next.
///
/// Give a ``Store`` a migration when the items' type changes, so that what an older version of the program stored is
/// carried over when it is loaded. Begin with the oldest shape and end with today's:
///
/// ```swift
/// let migration = ItemMigration(startingWith: NoteV1.self)
///     .then(NoteV2.self) { NoteV2(id: $0.id, title: $0.text, tags: []) }
///     .then(Note.self) { Note(id: $0.id, title: $0.title, tags: Set($0.tags)) }
///
/// let store = Store<Note>(storage: engine, cacheIdentifier: \.id, migration: migration)
/// ```
///
/// A record tells which shape it has: a store with a migration writes, around each item, the number of its shape in the
/// migration. Records without a number are of the first shape, so a migration can be given to a store that had none, as long
/// as it begins with the shape that was stored until then. Only ever add to the end of a migration, and keep the old
/// shapes in the program for as long as it may meet their records.
///
/// Old records are rewritten in today's shape while they are loaded, in batches. If that is interrupted, the rest follows
/// at the next load. A record that a step cannot convert stays stored as it is and is reported in
/// ``Store/undecodable``; so is one of a later shape than the migration knows, which a newer version of the program wrote.
public struct ItemMigration<Item: StorableItem>: Sendable {

    /// How to decode a record of each shape, oldest first, and convert it to `Item`.
    private let shapes: [@Sendable (RecordedItem) throws -> Item]

    /// Begins a migration with its first shape.
    ///
    /// - Parameter type: The shape of the records that were written before there was a migration.
    public init(startingWith type: Item.Type = Item.self) {
        shapes = [{ try $0.decode(Item.self) }]
    }

    private init(shapes: [@Sendable (RecordedItem) throws -> Item]) {
        self.shapes = shapes
    }

    /// Adds the shape that follows.
    ///
    /// - Parameters:
    ///   - type: The new shape.
    ///   - convert: Makes the new from the one before. What it throws leaves the record as it is and is reported.
    /// - Returns: The longer migration.
    public func then<Next: StorableItem>(
        _ type: Next.Type = Next.self,
        convert: @escaping @Sendable (Item) throws -> Next
    ) -> ItemMigration<Next> {
        let converted = shapes.map { decode in
            { @Sendable (record: RecordedItem) in try convert(decode(record)) }
        }
        return ItemMigration<Next>(shapes: converted + [{ try $0.decode(Next.self) }])
    }

    /// The number of today's shape, counted from 1.
    var currentVersion: Int { shapes.count }

    /// Decodes a record of a shape.
    func decode(version: Int, _ record: RecordedItem) throws -> Item {
        guard version >= 1, version <= shapes.count else {
            throw StorageError(
                .decodingFailed,
                """
                The record has shape \(version), and the migration knows \(shapes.count). \
                A newer version of the program may have written it.
                """
            )
        }
        return try shapes[version - 1](record)
    }
}

/// The former name of ``ItemMigration``.
@available(*, deprecated, renamed: "ItemMigration")
public typealias ItemMigration = ItemMigration
