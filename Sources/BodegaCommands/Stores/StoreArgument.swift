package import Bodega
import Foundation

extension StorageAddress {

    /// Reads the address of a store from an argument.
    ///
    /// - Parameters:
    ///   - argument: The address.
    ///   - collection: The collection in an SQLite file or a database, if an option names one.
    /// - Throws: A ``ToolError`` if the argument is not an address or conflicts with the option, a `StorageError` if
    ///   the path can't be examined.
    package init(argument: String, collection: String? = nil) throws {
        do {
            self = try StorageAddress(parsing: argument)
        } catch let error as StorageError where error.code == .invalidArgument {
            throw ToolError(.usage, error.message)
        }
        if engine == .memory {
            throw ToolError(
                .usage,
                "A store in memory would be lost when this command ends. Write sqlite:PATH, disk:PATH or postgres://….")
        }
        guard let collection else { return }
        if engine == .disk {
            throw ToolError(.usage, "--collection is for SQLite files and databases; a folder is one collection.")
        }
        if collection.isEmpty {
            throw ToolError(.usage, "The name of the collection is empty. Give --collection a name.")
        }
        if let named = self.collection, named != collection {
            throw ToolError(
                .usage,
                "The store's address names the collection \"\(named)\", and --collection another one. Name one.")
        }
        self = connectionURL.map { .postgres($0, collection: collection) } ?? .sqlite(path, collection: collection)
    }

    /// Whether two addresses denote the same items, after resolving symbolic links.
    package func isSamePlace(as other: StorageAddress) -> Bool {
        func resolved(_ path: String) -> String {
            URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
        }
        if connectionURL != nil || other.connectionURL != nil { return self == other }
        return resolved(path) == resolved(other.path) && collection == other.collection
    }
}
