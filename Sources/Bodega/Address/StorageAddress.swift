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
public struct StorageAddress: Hashable, Sendable {

    /// The engines that an address can name.
    public enum Engine: String, CaseIterable, Sendable {
        /// An SQLite file, for ``SQLiteStorageEngine``.
        case sqlite
        /// A folder with a file for each item, for ``DiskStorageEngine``.
        case disk
        /// Memory, for ``MemoryStorageEngine``.
        case memory
    }

    /// The engine.
    public let engine: Engine

    /// The path of the file or folder; empty for memory.
    public let path: String

    /// The collection in an SQLite file, `nil` for the unnamed one and for other engines.
    public let collection: String?

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

    /// Where the file or folder is, `nil` for memory. A relative path is below the current folder.
    public var url: URL? {
        engine == .memory ? nil : URL(fileURLWithPath: path, isDirectory: engine == .disk)
    }
}

extension StorageAddress: CustomStringConvertible {
    /// The address with its scheme, as ``init(parsing:)`` reads it.
    public var description: String {
        let scheme = "\(engine.rawValue):"
        // What parsing would take for something else is written in another way.
        let path = path.hasPrefix("~/") ? "./\(path)" : path.hasPrefix("//") ? "/.\(path)" : path
        guard engine == .sqlite else { return scheme + path }
        guard let collection else { return scheme + path + (path.contains("#") ? "#" : "") }
        return scheme + path + "#" + Self.escaped(collection)
    }
}
