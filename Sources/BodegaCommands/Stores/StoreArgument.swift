package import Bodega
import Foundation

extension StorageAddress {

    /// Reads a store as an argument names it.
    ///
    /// - Parameters:
    ///   - argument: The address.
    ///   - collection: The collection in an SQLite file or a database, if an option of its own names one.
    /// - Throws: A ``ToolError`` if the argument is no address or the option does not go with it, a `StorageError` if
    ///   what is at the path can't be looked at.
    package init(argument: String, collection: String? = nil) throws {
        do {
            self = try StorageAddress(parsing: argument)
        } catch let error as StorageError where error.code == .invalidArgument {
            throw ToolError(.usage, error.message)
        }
        if engine == .memory {
            throw ToolError(
                .usage, "A store in memory would end with this command. Write sqlite:PATH, disk:PATH or postgres://….")
        }
        guard let collection else { return }
        if engine == .disk {
            throw ToolError(.usage, "--collection is for SQLite files and databases; a folder is one collection.")
        }
        if collection.isEmpty { throw ToolError(.usage, "A collection needs a name that is not empty.") }
        if let named = self.collection, named != collection {
            throw ToolError(.usage, "The store names the collection \"\(named)\", --collection another one. Name one.")
        }
        self = connectionURL.map { .postgres($0, collection: collection) } ?? .sqlite(path, collection: collection)
    }

    /// Whether two addresses lead to the same items, symbolic links followed.
    package func isSamePlace(as other: StorageAddress) -> Bool {
        func resolved(_ path: String) -> String {
            URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
        }
        if connectionURL != nil || other.connectionURL != nil { return self == other }
        return resolved(path) == resolved(other.path) && collection == other.collection
    }
}
