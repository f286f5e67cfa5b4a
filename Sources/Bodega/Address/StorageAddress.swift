public import Foundation

/// The address of a store and its engine, in a text form for settings and command lines.
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
/// | `https://…#NAME`        | a named collection of a server, which `BodegaRemote` opens                        |
/// | `memory:`               | memory: empty when opened, discarded with the engine                              |
/// | `PATH`, `PATH#NAME`     | a folder or an SQLite file; see below                                             |
///
/// Without a scheme, a folder is for ``DiskStorageEngine`` and a file with SQLite's header for ``SQLiteStorageEngine``.
/// For a new path or an empty file, the extensions `sqlite3`, `sqlite` and `db` stand for SQLite.
///
/// Paths are used unchanged, with two exceptions. A path that begins with `~/` is in the home folder, because shells
/// don't expand that after a scheme. The text after the last `#` names a collection. An SQLite file with a `#` in its
/// path is therefore written with another `#` at the end, which names no collection: `sqlite:#1.db#`. In a collection's
/// name, `%` and two hexadecimal digits stand for a byte, so a `#` can be written as `%23` and a `%` as `%25`.
///
/// An address that begins with `postgres://` or `postgresql://` is libpq's connection URL, followed by a `#` and the
/// collection's name. ``description`` omits a password in it, but a pass file is a better place for a password.
///
/// An address that begins with `https://` or `http://` is that of a server, followed by a `#` and the collection's
/// name. It has no user, no password and no query: a token belongs into the call that opens the address.
///
/// Addresses are compared byte by byte, like the names of files and collections.
public struct StorageAddress: Hashable, Sendable {

    /// The engines that an address can name.
    public enum Engine: String, CaseIterable, Sendable {
        /// An SQLite file, for ``SQLiteStorageEngine``.
        case sqlite
        /// A folder with a file for each item, for ``DiskStorageEngine``.
        case disk
        /// A PostgreSQL database, for the engine of `BodegaPostgres`.
        case postgres
        /// A server of collections, for the engine of `BodegaRemote`.
        case server
        /// Memory, for ``MemoryStorageEngine``.
        case memory
    }

    /// The engine.
    public let engine: Engine

    /// The path of the file or folder; empty for memory, for a database and for a server.
    public let path: String

    /// The collection in an SQLite file, a database or a server, `nil` for the unnamed one and for other engines.
    public let collection: String?

    /// The connection URL of a database, or the URL of a server.
    let connection: ConnectionURL?

    init(engine: Engine, path: String, collection: String?, connection: ConnectionURL? = nil) {
        self.engine = engine
        self.path = path
        self.collection = collection
        self.connection = connection
    }

    /// The address of a store in memory. Each opening creates an empty one.
    public static let memory = StorageAddress(engine: .memory, path: "", collection: nil)

    /// The address of an SQLite file.
    ///
    /// - Parameters:
    ///   - path: The file's path, used unchanged.
    ///   - collection: The collection's name, used unchanged; `nil` for the unnamed one.
    public static func sqlite(_ path: String, collection: String? = nil) -> StorageAddress {
        StorageAddress(engine: .sqlite, path: path, collection: collection)
    }

    /// The address of a folder with a file for each item.
    ///
    /// - Parameter path: The folder's path, used unchanged.
    public static func disk(_ path: String) -> StorageAddress {
        StorageAddress(engine: .disk, path: path, collection: nil)
    }

    /// The file or folder, `nil` for memory, a database and a server. A relative path is resolved against the current
    /// folder.
    public var fileURL: URL? {
        path.isEmpty ? nil : URL(fileURLWithPath: path, isDirectory: engine == .disk)
    }
}

extension StorageAddress {
    private var texts: [ExactText?] { [path, collection, connection?.text].map { $0.map(ExactText.init) } }

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
    /// The address with its scheme, in the form that ``init(parsing:)`` accepts, without a password.
    public var description: String {
        if let connection {
            guard let collection else { return Self.withCollection(connection.shown, nil) }
            // A # before an @ could belong to a password.
            return connection.shown + "#" + Self.escaped(collection, ["#", "@"])
        }
        let scheme = "\(engine.rawValue):"
        // A path that parsing would take for something else is written differently.
        let scalars = path.unicodeScalars
        let path = scalars.after("~/") != nil ? "./\(path)" : scalars.after("//") != nil ? "/.\(path)" : path
        return engine == .sqlite ? Self.withCollection(scheme + path, collection) : scheme + path
    }

    private static func withCollection(_ text: String, _ collection: String?) -> String {
        guard let collection else { return text + (text.unicodeScalars.contains("#") ? "#" : "") }
        return text + "#" + escaped(collection)
    }
}
