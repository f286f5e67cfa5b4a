public import Bodega
public import Foundation

/// A place with containers and collections of objects of any types: a folder, an SQLite file, or memory.
///
/// Equal media are the same place: stores on them see the same objects and each other's changes. So do stores on media that
/// name one folder by different paths, through a symbolic link, say. Names of folders are told apart byte by byte, unless
/// the volume takes them for one.
public struct CodableStoreMedium: Sendable, Hashable {

    enum Place: Sendable, Hashable {
        case folder(path: ExactText)
        case sqliteFile(path: ExactText)
        case sqliteEngine(SharedEngine)
        case memory(MemoryPlace)
    }

    /// An SQLite engine that is shared with others, told apart by its identity.
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

    /// The memory that all stores share.
    static let sharedMemory = CodableStoreMedium(place: .memory(.shared))

    /// One file an object, in `<container>/<collection>` below a folder.
    ///
    /// - Parameter directory: The folder. It is created when something is saved.
    public static func fileSystem(in directory: FileManager.Directory) -> CodableStoreMedium {
        CodableStoreMedium(place: .folder(path: ExactText(path(of: directory))))
    }

    /// One SQLite file for all containers and collections, `CodableStoreKit.sqlite3` in a folder.
    ///
    /// - Parameter directory: The folder. It is created with the first operation.
    public static func sqlite(in directory: FileManager.Directory) -> CodableStoreMedium {
        CodableStoreMedium(place: .sqliteFile(path: ExactText(path(of: directory) + "/CodableStoreKit.sqlite3")))
    }

    /// The collection of an SQLite engine; see ``CodableStore/Engine/sqlite(_:)``.
    ///
    /// - Parameter engine: The engine.
    public static func sqlite(_ engine: SQLiteStorageEngine) -> CodableStoreMedium {
        CodableStoreMedium(place: .sqliteEngine(SharedEngine(engine: engine)))
    }

    /// Memory of its own, which no other medium shares, for a test or a preview. What it holds is gone with its last copy.
    public static func memory() -> CodableStoreMedium {
        CodableStoreMedium(place: .memory(MemoryPlace()))
    }

    /// The same place under the path that all of its paths have in common.
    var resolved: CodableStoreMedium {
        switch place {
        case .folder(let path): CodableStoreMedium(place: .folder(path: path.resolvedPath))
        case .sqliteFile(let path): CodableStoreMedium(place: .sqliteFile(path: path.resolvedPath))
        case .sqliteEngine, .memory: self
        }
    }

    /// A folder's path in the one form that all ways to write it have in common: URLs with and without a slash at the end
    /// are not equal.
    private static func path(of directory: FileManager.Directory) -> String {
        directory.url.standardizedFileURL.path
    }
}

extension ExactText {
    /// A path without symbolic links, see ``Bodega/FileSystem/resolvedPath(_:)``.
    var resolvedPath: ExactText { ExactText(FileSystem.resolvedPath(text)) }
}
