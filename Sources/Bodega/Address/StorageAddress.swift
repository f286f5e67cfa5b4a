public import Foundation

/// Where a store is and which engine it is for, in a form that people write: in settings, on a command line.
///
/// ```swift
/// let address = try StorageAddress(parsing: "sqlite:notes.sqlite3#drafts")
/// let engine = try address.open()
/// ```
///
/// | text                    | means                                                                           |
/// |-------------------------|---------------------------------------------------------------------------------|
/// | `sqlite:PATH`           | the unnamed collection of an SQLite file                                          |
/// | `sqlite:PATH#NAME`      | a named collection of an SQLite file                                              |
/// | `disk:PATH`             | a folder with a file for each item                                               |
/// | `postgres://…#NAME`     | a named collection of a PostgreSQL database, which `BodegaPostgres` opens         |
/// | `memory:`               | memory, empty at first and gone in the end                                        |
/// | `PATH`, `PATH#NAME`     | a folder, an SQLite file or, where nothing is yet, a file named so; see below     |
///
/// Without a scheme, a folder is for ``DiskStorageEngine`` and a file that starts like an SQLite file for
/// ``SQLiteStorageEngine``. Where nothing is yet, or an empty file, the extensions `sqlite3`, `sqlite` and `db` tell.
///
/// Paths stand as they are, with two exceptions. One that begins with `~/` is in the home folder, because shells don't
/// expand that after a scheme. What follows the last `#` is the name of a collection, so an SQLite file with a `#` in its
/// path is written with another one at the end, which names no collection: `sqlite:#1.db#`. In a collection's name `%`
/// and two hexadecimal digits stand for a byte, so that a `#` can be written as `%23` and a `%` as `%25`.
///
/// What begins with `postgres://` or `postgresql://` is libpq's connection URL, with the collection's name behind the last
/// `#`. A password in it is not shown by ``description``; the pass file is a better place for it.
///
/// Addresses are compared byte by byte, as files and collections are told apart.
public struct StorageAddress: Hashable, Sendable {

    /// The engines that an address can name.
    public enum Engine: String, CaseIterable, Sendable {
        /// An SQLite file, for ``SQLiteStorageEngine``.
        case sqlite
        /// A folder with a file for each item, for ``DiskStorageEngine``.
        case disk
        /// A PostgreSQL database, for the engine of `BodegaPostgres`.
        case postgres
        /// Memory, for ``MemoryStorageEngine``.
        case memory
    }

    /// The engine.
    public let engine: Engine

    /// The path of the file or folder; empty for memory and for a database.
    public let path: String

    /// The collection in an SQLite file or a database, `nil` for the unnamed one and for other engines.
    public let collection: String?

    /// Where a database is.
    let connection: ConnectionURL?

    init(engine: Engine, path: String, collection: String?, connection: ConnectionURL? = nil) {
        self.engine = engine
        self.path = path
        self.collection = collection
        self.connection = connection
    }

    /// Memory, empty when it is opened, and another one each time.
    public static let memory = StorageAddress(engine: .memory, path: "", collection: nil)

    /// The address of an SQLite file.
    ///
    /// - Parameters:
    ///   - path: The file's path, taken as it is.
    ///   - collection: The collection's name, taken as it is; `nil` for the unnamed one.
    public static func sqlite(_ path: String, collection: String? = nil) -> StorageAddress {
        StorageAddress(engine: .sqlite, path: path, collection: collection)
    }

    /// The address of a folder with a file for each item.
    ///
    /// - Parameter path: The folder's path, taken as it is.
    public static func disk(_ path: String) -> StorageAddress {
        StorageAddress(engine: .disk, path: path, collection: nil)
    }

    /// Where the file or folder is, `nil` for memory and for a database. A relative path is below the current folder.
    public var url: URL? {
        path.isEmpty ? nil : URL(fileURLWithPath: path, isDirectory: engine == .disk)
    }
}

extension StorageAddress {
    private var texts: [ExactText?] { [path, collection, connectionURL].map { $0.map(ExactText.init) } }

    /// Compares the engines, and the texts byte by byte.
    public static func == (left: StorageAddress, right: StorageAddress) -> Bool {
        left.engine == right.engine && left.texts == right.texts
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(engine)
        hasher.combine(texts)
    }
}

extension StorageAddress: CustomStringConvertible {
    /// The address with its scheme, as ``init(parsing:)`` reads it, but for a password, which is left out.
    public var description: String {
        if let connection {
            guard let collection else { return Self.withCollection(connection.shown, nil) }
            // In front of an @, the # could belong to a password.
            return connection.shown + "#" + Self.escaped(collection, ["#", "@"])
        }
        let scheme = "\(engine.rawValue):"
        // What parsing would take for something else is written in another way.
        let scalars = path.unicodeScalars
        let path = scalars.after("~/") != nil ? "./\(path)" : scalars.after("//") != nil ? "/.\(path)" : path
        return engine == .sqlite ? Self.withCollection(scheme + path, collection) : scheme + path
    }

    private static func withCollection(_ text: String, _ collection: String?) -> String {
        guard let collection else { return text + (text.unicodeScalars.contains("#") ? "#" : "") }
        return text + "#" + escaped(collection)
    }
}
