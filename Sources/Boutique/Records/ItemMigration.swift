import Bodega

/// The shapes of an item in all versions of a program, and the conversions between them.
///
/// When the type of the items changes, pass a migration to the ``Store``. It converts the items that older versions of
/// the program have stored when it loads them. Begin with the oldest shape and end with the current one:
///
/// ```swift
/// let migration = ItemMigration(startingWith: NoteV1.self)
///     .then(NoteV2.self) { NoteV2(id: $0.id, title: $0.text, tags: []) }
///     .then(Note.self) { Note(id: $0.id, title: $0.title, tags: Set($0.tags)) }
///
/// let store = Store<Note>(storage: engine, cacheIdentifier: \.id, migration: migration)
/// ```
///
/// A store with a migration writes each item together with the number of its shape in the migration. Records without a
/// number have the first shape. So you can add a migration to an existing store, as long as it begins with the shape
/// that was stored until then. Only append shapes to a migration, and keep the old shapes in the program as long as it
/// may encounter their records.
///
/// While loading, the store rewrites old records in the current shape, in batches. If that is interrupted, the next
/// load rewrites the rest. A record that a step cannot convert stays stored unchanged and is reported in
/// ``Store/undecodable``. The same applies to a record of a later shape than the migration contains, which a newer
/// version of the program has written.
public struct ItemMigration<Item: StorableItem>: Sendable {

    /// For each shape, oldest first, a closure that decodes a record and converts it to `Item`.
    private let shapes: [@Sendable (RecordedItem) throws -> Item]

    /// Creates a migration with its first shape.
    ///
    /// - Parameter type: The shape of the records that were written before the store had a migration.
    public init(startingWith type: Item.Type = Item.self) {
        shapes = [{ try $0.decode(Item.self) }]
    }

    private init(shapes: [@Sendable (RecordedItem) throws -> Item]) {
        self.shapes = shapes
    }

    /// Appends the next shape.
    ///
    /// - Parameters:
    ///   - type: The new shape.
    ///   - convert: A closure that converts an item from the previous shape. If it throws, the record stays unchanged
    ///     and its error is reported in ``Store/undecodable``.
    /// - Returns: A migration that ends with the new shape.
    public func then<Next: StorableItem>(
        _ type: Next.Type = Next.self,
        convert: @escaping @Sendable (Item) throws -> Next
    ) -> ItemMigration<Next> {
        let converted = shapes.map { decode in
            { @Sendable (record: RecordedItem) in try convert(decode(record)) }
        }
        return ItemMigration<Next>(shapes: converted + [{ try $0.decode(Next.self) }])
    }

    /// The number of the current shape, counted from 1.
    var currentVersion: Int { shapes.count }

    /// Decodes a record of the shape with a number.
    func decode(version: Int, _ record: RecordedItem) throws -> Item {
        guard version >= 1, version <= shapes.count else {
            throw StorageError(
                .decodingFailed,
                """
                The record has shape \(version), but the migration has only \(shapes.count) shapes. A newer version of \
                the program may have written the record. Update the program, or append the missing shapes.
                """
            )
        }
        return try shapes[version - 1](record)
    }
}
