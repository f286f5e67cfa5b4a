import Bodega
import Foundation

/// The collections that are open in this process, so that all stores on one share its core, by whatever path they name it.
///
/// What lies at a place of its own stays open as long as the process: a store is often made for one operation only. An
/// SQLite engine that was handed in belongs to its owner, so its collections are open as long as somebody has a store on
/// them or observes them.
enum CollectionRegistry {

    private struct WeakCore: Sendable {
        // Set once; `weak let` needs a newer compiler than the package.
        nonisolated(unsafe) weak var core: CollectionCore?
    }

    private struct State: Sendable {
        var folders: [ExactText: CollectionCore] = [:]
        var files: [ExactText: SQLitePlace] = [:]
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
            case .folder(let base): files(in: ExactText(base.text + "/" + path).resolvedPath)
            case .sqliteFile(let file): try self.file(file.resolvedPath).core(path)
            case .sqliteEngine(let engine): try table(container == .named ? nil : path, of: engine.engine)
            }
        try core.claim(by: type, name)
        return core
    }

    private static func files(in folder: ExactText) -> CollectionCore {
        state.withLock { state in
            if let core = state.folders[folder] { return core }
            let core = CollectionCore(FileCollection(URL(fileURLWithPath: folder.text, isDirectory: true)))
            state.folders[folder] = core
            return core
        }
    }

    private static func file(_ path: ExactText) -> SQLitePlace {
        state.withLock { state in
            if let place = state.files[path] { return place }
            let place = SQLitePlace(URL(fileURLWithPath: path.text))
            state.files[path] = place
            return place
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
