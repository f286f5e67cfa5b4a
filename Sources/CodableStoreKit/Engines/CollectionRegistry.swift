import Bodega
import Foundation

/// The collections that are open in this process, so that all stores on one share its core.
///
/// What lies at a place of its own stays open as long as the process: a store is often made for one operation only. An
/// SQLite engine that was handed in belongs to its owner, so its collections are open as long as somebody has a store on
/// them or observes them.
enum CollectionRegistry {

    private struct WeakCore: Sendable {
        weak let core: CollectionCore?
    }

    private struct State: Sendable {
        var folders: [String: CollectionCore] = [:]
        var files: [String: [String: CollectionCore]] = [:]
        var engines: [String: SQLiteStorageEngine] = [:]
        var shared: [SQLiteCollection.Identity: WeakCore] = [:]
    }

    private static let state = Locked(State())

    /// A collection of a type, opened if it isn't.
    static func core(
        of type: (some BaseCodableStoreable).Type,
        in container: CodableStoreContainer,
        on medium: CodableStoreMedium
    ) throws -> CollectionCore {
        let name = try CollectionName(of: type)
        let folder = FolderName.name(of: container.name)
        let path = folder + "/" + name.folder
        let core =
            switch medium.place {
            case .memory(let place): place.core(at: path)
            case .folder(let base): files(in: base + "/" + path)
            case .sqliteFile(let file): try table(path, in: file)
            case .sqliteEngine(let engine): try table(container == .default ? nil : path, of: engine.engine)
            }
        try core.claim(by: type, name)
        return core
    }

    private static func files(in folder: String) -> CollectionCore {
        state.withLock { state in
            if let core = state.folders[folder] { return core }
            let core = CollectionCore(FileCollection(URL(fileURLWithPath: folder, isDirectory: true)))
            state.folders[folder] = core
            return core
        }
    }

    private static func table(_ path: String, in file: String) throws -> CollectionCore {
        try state.withLock { state in
            if state.engines[file] != nil, !FileManager.default.fileExists(atPath: file) {
                // Somebody has removed it, so what is open has no name any more, and nobody would find what is saved there.
                state.engines[file] = nil
                state.files[file] = nil
            }
            if let core = state.files[file]?[path] { return core }
            let engine =
                try state.engines[file]?.collection(named: path)
                ?? SQLiteStorageEngine(openingFile: URL(fileURLWithPath: file), collection: path)
            state.engines[file] = engine
            let core = CollectionCore(SQLiteRecords(SQLiteCollection(of: engine)))
            state.files[file, default: [:]][path] = core
            return core
        }
    }

    private static func table(_ path: String?, of engine: SQLiteStorageEngine) throws -> CollectionCore {
        let collection = SQLiteCollection(of: try path.map { try engine.collection(named: $0) } ?? engine)
        return state.withLock { state in
            if let core = state.shared[collection.identity]?.core { return core }
            let core = CollectionCore(SQLiteRecords(collection))
            // Those that are gone leave their entries, which are few.
            state.shared = state.shared.filter { $0.value.core != nil }
            state.shared[collection.identity] = WeakCore(core: core)
            return core
        }
    }
}
