public import Bodega
public import Foundation

/// A storage location with containers and collections of any types: a folder, an SQLite file, or memory.
///
/// Stores on equal locations share their objects and observe each other's changes. So do stores on locations that name
/// one folder by different paths, for example through a symbolic link. Folder names are compared byte by byte, unless
/// the volume considers them equal.
public struct CodableStoreLocation: Sendable, Hashable {

    enum Place: Sendable, Hashable {
        case folder(path: ExactText)
        case sqliteFile(path: ExactText)
        case sqliteEngine(SharedEngine)
        case memory(MemoryLocation)
    }

    /// An SQLite engine that its owner shares with the stores, compared by its identity.
    struct SharedEngine: Sendable, Hashable {
        let engine: SQLiteStorageEngine

        static func == (left: SharedEngine, right: SharedEngine) -> Bool {
            left.engine === right.engine
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(engine))
        }
    }

    let place: Place

    /// Stores each object in a file, in `<container>/<collection>` below a folder.
    ///
    /// - Parameter directory: The folder. It is created by the first save.
    public static func fileSystem(in directory: FileManager.Directory) -> CodableStoreLocation {
        CodableStoreLocation(place: .folder(path: ExactText(path(of: directory))))
    }

    /// Stores the objects of all containers and collections in one SQLite file, `CodableStoreKit.sqlite3` in a folder.
    ///
    /// - Parameter directory: The folder. It is created by the first save.
    public static func sqlite(in directory: FileManager.Directory) -> CodableStoreLocation {
        CodableStoreLocation(place: .sqliteFile(path: ExactText(path(of: directory) + "/CodableStoreKit.sqlite3")))
    }

    /// Stores the objects in the collection of an SQLite engine. See ``CodableStore/Engine/sqlite(_:)``.
    ///
    /// - Parameter engine: The engine.
    public static func sqlite(_ engine: SQLiteStorageEngine) -> CodableStoreLocation {
        CodableStoreLocation(place: .sqliteEngine(SharedEngine(engine: engine)))
    }

    /// Creates a separate in-memory location, for example for a test or a preview. Its objects are discarded with its
    /// last copy.
    public static func memory() -> CodableStoreLocation {
        CodableStoreLocation(place: .memory(MemoryLocation()))
    }

    /// The same location with symbolic links resolved in its path.
    var resolved: CodableStoreLocation {
        switch place {
        case .folder(let path): CodableStoreLocation(place: .folder(path: path.resolvedPath))
        case .sqliteFile(let path): CodableStoreLocation(place: .sqliteFile(path: path.resolvedPath))
        case .sqliteEngine, .memory: self
        }
    }

    /// Returns a folder's standardized path. URLs with and without a trailing slash differ, but have the same path.
    private static func path(of directory: FileManager.Directory) -> String {
        directory.url.fixed.standardizedFileURL.path
    }
}

extension ExactText {
    /// The path with symbolic links resolved. See ``/Bodega/FileSystem/resolvedPath(_:)``.
    var resolvedPath: ExactText { ExactText(FileSystem.resolvedPath(text)) }
}
