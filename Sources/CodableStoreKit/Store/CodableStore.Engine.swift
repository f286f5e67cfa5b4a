public import Bodega
public import Foundation

extension CodableStore {

    /// The engine that stores the objects of a store.
    public enum Engine {

        /// Each object is a file.
        ///
        /// The files are in `CodableStoreKit/<container>/<collection>` in the user's documents folder. On Linux, they
        /// are in a folder named after the program in `$XDG_DATA_HOME`, which defaults to `~/.local/share`.
        case fileSystem

        /// The objects are in memory, which all stores of the process share. They are discarded when the process ends.
        case inMemory

        /// The objects of all containers and collections are in one SQLite file, which suits many objects.
        ///
        /// The file is `CodableStoreKit.sqlite3` in the folder of ``fileSystem``.
        case sqlite

        /// A custom engine.
        case custom(AnyCodableStoreEngine<Object>)

        /// A storage location of your choice.
        case at(CodableStoreLocation)
    }
}

extension CodableStore.Engine: Sendable where Object: Sendable {}

extension CodableStore.Engine {

    /// Stores each object in a file, in `<container>/<collection>` below a folder.
    ///
    /// - Parameter directory: The folder. It is created by the first save.
    public static func fileSystem(in directory: FileManager.Directory) -> Self {
        .at(.fileSystem(in: directory))
    }

    /// Stores the objects of all containers and collections in one SQLite file, `CodableStoreKit.sqlite3` in a folder.
    ///
    /// - Parameter directory: The folder. It is created by the first save.
    public static func sqlite(in directory: FileManager.Directory) -> Self {
        .at(.sqlite(in: directory))
    }

    /// Stores the objects in an SQLite engine's collection, which a Boutique store, for example, can also use.
    ///
    /// ```swift
    /// let engine = try SQLiteStorageEngine(opening: .documents(appendingPath: "Users"))
    /// let users = CodableStore<User>(engine: .sqlite(engine))
    /// let store = try await Store<User>(storage: engine)   // shares the objects with `users`
    /// ```
    ///
    /// The container "Default" is the engine's own collection, so it stores objects of one type. For other types, use
    /// ``/Bodega/SQLiteStorageEngine/collection(named:)``. Other containers are separate collections in the file.
    ///
    /// Both stores find the same objects if they use the same identifiers and record format. By default, both use JSON,
    /// and identifiers that are strings or UUIDs. Each observes the other's changes, in one process or in several.
    ///
    /// If the engine's file is removed or replaced, it is not opened again. Operations throw an error with the code
    /// ``/Bodega/StorageError/Code/placeRemoved``.
    ///
    /// - Parameter engine: The engine.
    public static func sqlite(_ engine: SQLiteStorageEngine) -> Self {
        .at(.sqlite(engine))
    }
}
