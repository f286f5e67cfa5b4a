import Bodega
import Foundation

/// The keys of a record that has the number of its item's shape: `{"$version": 2, "$item": …}`.
enum VersionedRecordKeys: String, CodingKey {
    case version = "$version"
    case item = "$item"
}

/// An item with the number of its shape.
struct VersionedRecord<Item: Encodable>: Encodable {
    let version: Int
    let item: Item

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: VersionedRecordKeys.self)
        try container.encode(version, forKey: .version)
        try container.encode(item, forKey: .item)
    }
}

/// An item that is decoded in the shape of its record, and converted to the current one.
struct RecordOfAnyVersion<Item: StorableItem>: Decodable {
    let version: Int
    let item: Item

    init(from decoder: any Decoder) throws {
        let migration = try ItemMigration<Item>.current()
        if let container = Self.versionedContainer(of: decoder) {
            version = try container.decode(Int.self, forKey: .version)
            item = try migration.decode(version: version, .nested(container))
        } else {
            version = 1
            item = try migration.decode(version: 1, .bare(decoder.singleValueContainer()))
        }
    }

    private static func versionedContainer(
        of decoder: any Decoder
    ) -> KeyedDecodingContainer<VersionedRecordKeys>? {
        do {
            let container = try decoder.container(keyedBy: VersionedRecordKeys.self)
            return container.contains(.version) && container.contains(.item) ? container : nil
        } catch {
            // The record has no keys. It may still be an item of the first shape.
            return nil
        }
    }
}

/// The item of a record, which can be decoded as any type.
enum RecordedItem {
    case bare(any SingleValueDecodingContainer)
    case nested(KeyedDecodingContainer<VersionedRecordKeys>)

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        switch self {
        case .bare(let container): try container.decode(type)
        case .nested(let container): try container.decode(type, forKey: .item)
        }
    }
}

/// The migration of the records being decoded. It is task-local, because a custom coder has no way to pass it on.
private enum CurrentMigration {
    @TaskLocal static var value: (any Sendable)?
}

extension ItemMigration {

    /// Calls a closure that decodes records with this migration.
    func whileDecoding<Result>(_ body: () throws -> Result) rethrows -> Result {
        try CurrentMigration.$value.withValue(self, operation: body)
    }

    fileprivate static func current() throws -> ItemMigration<Item> {
        guard let migration = CurrentMigration.value as? ItemMigration<Item> else {
            throw StorageError(
                .decodingFailed,
                "A versioned record was decoded without a migration. Decode it in the task that calls the coder.")
        }
        return migration
    }
}
