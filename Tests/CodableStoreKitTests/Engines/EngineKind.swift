import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// An engine that the same tests run on.
enum EngineKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case files, memory, sqlite, sharedSQLite, custom

    var testDescription: String { rawValue }

    /// The engines that store records, which types and containers can share.
    static let ofRecords: [EngineKind] = [.files, .memory, .sqlite]
    /// The engines whose objects survive the process.
    static let onDisk: [EngineKind] = [.files, .sqlite]

    /// Returns an engine of this kind. Engines in the same folder share their objects, except for memory, a shared
    /// SQLite engine and a custom engine, which are created on each call.
    func engine<Object: BaseCodableStoreable>(in folder: TemporaryFolder, for type: Object.Type = Object.self) throws
        -> CodableStore<Object>.Engine
    {
        switch self {
        case .files: .fileSystem(in: folder.directory)
        case .memory: .at(.memory())
        case .sqlite: .sqlite(in: folder.directory)
        case .sharedSQLite: .sqlite(try SQLiteStorageEngine(opening: folder.directory))
        case .custom: .custom(AnyCodableStoreEngine(DictionaryEngine()))
        }
    }
}

/// A custom engine without a lock. It compares identifiers like the store.
class DictionaryEngine<Object: BaseCodableStoreable>: CodableStoreEngine {
    private var objects: [(id: Object.ID, object: Object)] = []

    func get(identifier: Object.ID) throws -> Object {
        guard let found = objects.first(where: { Self.isSame($0.id, identifier) }) else {
            throw StorageError(.notFound, "There is no such object.")
        }
        return found.object
    }

    private static func isSame(_ left: Object.ID, _ right: Object.ID) -> Bool {
        guard let left = left as? String, let right = right as? String else { return left == right }
        return left.utf8.elementsEqual(right.utf8)
    }

    func getCollection() throws -> [Object] { objects.map { $0.object } }

    func save(_ object: Object) throws -> Object {
        let id = object[keyPath: Object.codableStoreIdentifier]
        if let index = objects.firstIndex(where: { Self.isSame($0.id, id) }) {
            objects[index].object = object
        } else {
            objects.append((id, object))
        }
        return object
    }

    func delete(identifier: Object.ID) throws -> Object {
        let object = try get(identifier: identifier)
        objects.removeAll { Self.isSame($0.id, identifier) }
        return object
    }
}
