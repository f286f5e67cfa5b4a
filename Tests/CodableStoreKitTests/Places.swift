import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// A medium that the same tests run on.
enum Medium: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case files, memory, sqlite, sharedSQLite, custom

    var testDescription: String { rawValue }

    /// Those that keep records, which can be shared by types and containers.
    static let ofRecords: [Medium] = [.files, .memory, .sqlite]
    /// Those that survive the process.
    static let onDisk: [Medium] = [.files, .sqlite]

    /// An engine of this medium in a folder. Engines of one medium are the same place if they share the folder, except for
    /// memory, a shared SQLite engine and a custom one, which are made anew.
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

/// An engine as users write it, without a lock. It tells identifiers apart as the store does.
class DictionaryEngine<Object: BaseCodableStoreable>: CodableStoreEngine {
    private var objects: [(id: Object.ID, object: Object)] = []

    func get(identifier: Object.ID) throws -> Object {
        guard let found = objects.first(where: { Self.isSame($0.id, identifier) }) else {
            throw StorageError(.notFound, "There is none.")
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
