import Bodega
import Foundation

extension StorageAddress {

    /// Reads the address of a store from an argument.
    ///
    /// - Parameters:
    ///   - collection: The collection in an SQLite file, a database or a server, if an option names one.
    ///   - mustExist: Whether the store must exist. Otherwise the address has to say what kind of store to create.
    /// - Throws: A ``ToolError`` if the argument is not an address or conflicts with the option, a `StorageError` if
    ///   the path can't be examined.
    init(argument: String, collection: String? = nil, mustExist: Bool = true) throws {
        do {
            self = try StorageAddress(parsing: argument)
        } catch let error as StorageError where error.code == .invalidArgument {
            if mustExist, try Self.isMissing(argument) {
                throw ToolError(.failure, "There is no store at \(argument).")
            }
            throw ToolError(.usage, error.message)
        }
        if engine == .memory {
            throw ToolError(
                .usage,
                "A store in memory would be lost when this command ends. Name another store.")
        }
        guard let collection else { return }
        if engine == .disk {
            throw ToolError(
                .usage, "--collection is for SQLite files, databases and servers; a folder is one collection.")
        }
        if collection.isEmpty {
            throw ToolError(.usage, "The name of the collection is empty. Give --collection a name.")
        }
        if let named = self.collection, named != collection {
            throw ToolError(
                .usage,
                "The store's address names the collection \"\(named)\", and --collection another one. Name one.")
        }
        self = withCollection(collection)
    }

    /// The address of another collection of the same file, database or server.
    func withCollection(_ name: String) -> StorageAddress {
        if let connectionURL { return .postgres(connectionURL, collection: name) }
        if let serverURL { return .server(serverURL, collection: name) }
        return .sqlite(path, collection: name)
    }

    /// Whether an argument is a path, without a scheme, at which nothing exists.
    private static func isMissing(_ argument: String) throws -> Bool {
        guard !argument.isEmpty, !argument.utf8.contains(0), !argument.prefix(while: { $0 != "/" }).contains(":")
        else { return false }
        let path = argument.lastIndex(of: "#").map { String(argument[..<$0]) } ?? argument
        return try !path.isEmpty && StoreNature(ofPath: argument) == .missing && StoreNature(ofPath: path) == .missing
    }

    /// Whether two addresses denote the same items, after resolving symbolic links.
    func isSamePlace(as other: StorageAddress) -> Bool {
        func resolved(_ path: String) -> String {
            URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
        }
        if path.isEmpty || other.path.isEmpty { return self == other }
        return resolved(path) == resolved(other.path) && collection == other.collection
    }
}
