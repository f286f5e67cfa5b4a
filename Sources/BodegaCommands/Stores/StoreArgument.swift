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
            // A file whose first bytes are damaged is not recognized.
            throw ToolError(try Self.natureOfFile(argument) == .other ? .failure : .usage, error.message)
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
    private static func isMissing(_ argument: String) throws -> Bool { try natureOfFile(argument) == .missing }

    /// What is at a path without a scheme, which may end with the name of a collection; `nil` if it is no path.
    private static func natureOfFile(_ argument: String) throws -> StoreNature? {
        guard !argument.isEmpty, !argument.utf8.contains(0), !argument.prefix(while: { $0 != "/" }).contains(":")
        else { return nil }
        let nature = try StoreNature(ofPath: argument)
        guard nature == .missing, let mark = argument.lastIndex(of: "#") else { return nature }
        return mark == argument.startIndex ? nil : try StoreNature(ofPath: String(argument[..<mark]))
    }

    /// Whether two addresses denote the same items, after resolving symbolic links.
    func isSamePlace(as other: StorageAddress) -> Bool {
        if path.isEmpty || other.path.isEmpty { return self == other }
        return path.resolvingLinks == other.path.resolvingLinks && collection == other.collection
    }

    /// Checks that a file is none of the store: that of a database or one that SQLite keeps beside it, or one in a
    /// folder of items.
    ///
    /// - Throws: A ``ToolError`` if writing the file would replace a part of the store.
    func checkDoesNotContain(fileAt file: String) throws {
        if path.isEmpty { return }
        let (file, path) = (file.resolvingLinks, path.resolvingLinks)
        let isPart =
            if engine == .disk {
                file.hasSameBytes(as: path) || file.utf8.starts(with: (path.hasSuffix("/") ? path : path + "/").utf8)
            } else {
                ["", "-wal", "-shm", "-journal"].contains { file.hasSameBytes(as: path + $0) }
            }
        if isPart { throw ToolError(.usage, "The file would replace the store, or a part of it. Name another file.") }
    }
}

extension String {
    /// The path after resolving symbolic links, those to the folder of a missing file included.
    fileprivate var resolvingLinks: String {
        let url = URL(fileURLWithPath: self).standardizedFileURL.resolvingSymlinksInPath()
        return url.deletingLastPathComponent().resolvingSymlinksInPath().appendingPathComponent(url.lastPathComponent)
            .path
    }
}
