import Bodega
import Foundation

/// The open collections of this process. A collection's stores share its core, even if they use different paths.
///
/// Of the collections in folders and SQLite files, those that were used last stay open, because a store is often
/// created for a single operation. A shared SQLite engine belongs to its owner, so its collections stay open only while
/// there are stores on them or observers of them.
enum CollectionRegistry {

    private struct State: Sendable {
        var folders = RecentCores<ExactText>()
        var files: [ExactText: SQLiteLocation] = [:]
        var shared: [SQLiteCollection.Identity: Weak<CollectionCore>] = [:]
    }

    private static let state = Locked(State())

    /// Returns the collection of a type, and opens it if necessary.
    static func core(
        of type: (some BaseCodableStoreable).Type,
        in container: CodableStoreContainer,
        on location: CodableStoreLocation
    ) throws -> CollectionCore {
        let name = try CollectionName(of: type)
        let folder = FolderName.name(of: container.name)
        let path = folder + "/" + name.folder
        let core =
            switch location.place {
            case .memory(let place): place.core(at: path)
            case .folder(let base): files(in: ExactText(base.text + "/" + path).resolvedPath)
            case .sqliteFile(let file): try self.file(file.resolvedPath).core(path)
            case .sqliteEngine(let engine): table(container == .named ? nil : path, of: engine.engine)
            }
        try core.claim(by: type, name)
        return core
    }

    private static func files(in folder: ExactText) -> CollectionCore {
        let (core, released) = state.withLock { state in
            let core =
                state.folders[folder]
                ?? CollectionCore(FileCollection(URL(fileURLWithPath: folder.text, isDirectory: true)))
            return (core, state.folders.use(core, as: folder))
        }
        withExtendedLifetime(released) {}
        return core
    }

    private static func file(_ path: ExactText) -> SQLiteLocation {
        state.withLock { state in
            if let place = state.files[path] { return place }
            let place = SQLiteLocation(URL(fileURLWithPath: path.text))
            state.files[path] = place
            // A process may run thousands of tests.
            TemporaryStorage.current?.atEnd { release(path) }
            return place
        }
    }

    private static func release(_ path: ExactText) {
        let released = state.withLock { $0.files.removeValue(forKey: path) }
        withExtendedLifetime(released) {}
    }

    private static func table(_ path: String?, of engine: SQLiteStorageEngine) -> CollectionCore {
        let collection = path.map { SQLiteCollection(named: $0, in: engine) } ?? SQLiteCollection(of: engine)
        return state.withLock { state in
            if let core = state.shared[collection.identity]?.object { return core }
            let core = CollectionCore(SQLiteRecords { _ in collection })
            // Remove the few entries whose collections are gone.
            state.shared = state.shared.filter { $0.value.object != nil }
            state.shared[collection.identity] = Weak(core)
            return core
        }
    }
}
