public import Bodega
public import Foundation

extension CodableStore {

    /// What keeps a store's objects.
    public enum Engine {

        /// One file an object.
        ///
        /// The files are in `CodableStoreKit/<container>/<collection>` in the user's documents folder; on Linux in a
        /// folder named after the program in `$XDG_DATA_HOME`, by default `~/.local/share`.
        case fileSystem

        /// Memory, shared by all stores of the process and gone with it.
        case inMemory

        /// One SQLite file for all containers and collections, for many objects.
        ///
        /// It is `CodableStoreKit.sqlite3`, in the folder of ``fileSystem``.
        case sqlite

        /// An engine of your own.
        case custom(AnyCodableStoreEngine<Object>)

        /// A medium at a place of your choice.
        case at(CodableStoreMedium)
    }
}

extension CodableStore.Engine: Sendable where Object: Sendable {}

extension CodableStore.Engine {

    /// One file an object, in `<container>/<collection>` below a folder.
    ///
    /// - Parameter directory: The folder. It is created when something is saved.
    public static func fileSystem(in directory: FileManager.Directory) -> Self {
        .at(.fileSystem(in: directory))
    }

    /// One SQLite file for all containers and collections, `CodableStoreKit.sqlite3` in a folder.
    ///
    /// - Parameter directory: The folder. It is created with the first operation.
    public static func sqlite(in directory: FileManager.Directory) -> Self {
        .at(.sqlite(in: directory))
    }

    /// The collection of an SQLite engine, which it shares with whatever else uses that engine: a Boutique store, say.
    ///
    /// ```swift
    /// let engine = try SQLiteStorageEngine(opening: .documents(appendingPath: "Users"))
    /// let users = CodableStore<User>(engine: .sqlite(engine))
    /// let store = try await Store<User>(storage: engine)   // sees what is saved in `users`, and the other way round
    /// ```
    ///
    /// The container with the name "Default" is the engine's own collection, so an engine is for objects of one
    /// type; take ``Bodega/SQLiteStorageEngine/collection(named:)`` for others. Other containers are collections of their
    /// own in the same file.
    ///
    /// The two see the same objects if they go by the same identifiers and the same form of the records: JSON and strings
    /// or UUIDs, which is what both do by default. They see each other's changes, in one process or in several.
    ///
    /// The engine is not opened anew when somebody has removed or replaced its file; operations then throw
    /// ``Bodega/StorageError/Code/placeRemoved``.
    ///
    /// - Parameter engine: The engine.
    public static func sqlite(_ engine: SQLiteStorageEngine) -> Self {
        .at(.sqlite(engine))
    }
}
