package import Bodega
package import Foundation

/// The measurements of a store.
package struct StoreStatistics: Sendable {
    /// Where the store is.
    package var address: StorageAddress
    /// The names of the collections in an SQLite file or a database; `nil` for a folder.
    package var collections: [String]?
    /// The number of items.
    package var count = 0
    /// The number of bytes in the values.
    package var bytes = 0
    /// The number of bytes in the largest value.
    package var largest = 0
    /// The number of items that are encrypted and were measured without a keyset.
    package var encrypted = 0
    /// The items that could not be read.
    package let unreadable = UnreadableItems()
    /// The number of bytes in the store's files; `nil` for a database, whose files belong to its server.
    package var fileBytes: Int?
    /// The number of bytes that the volume uses for these files and the store's folders; `nil` for a database.
    package var allocatedBytes: Int?
    /// The earliest date at which an item was created, `nil` if there are no items.
    package var oldest: Date?
    /// When an item was last written, `nil` if there are no items.
    package var newest: Date?
    /// Whether the items were measured; otherwise the output has no numbers and dates.
    package private(set) var isMeasured = false
    /// The problems of the file, `nil` if it was not examined.
    package var problems: [String]?

    /// Creates the statistics of a store that is not measured yet.
    ///
    /// - Parameter store: The store.
    package init(of store: OpenStore) {
        address = store.address
    }

    /// Measures a store, by reading every item.
    ///
    /// - Parameter store: The store.
    /// - Throws: A `StorageError` if an item can't be read.
    package mutating func measure(_ store: OpenStore) async throws {
        collections = try await store.collectionNames()
        let keys = try await store.engine.fetchKeys()
        for try await batch in ItemBatches(of: keys, [.data, .dates], in: store.engine, unreadable: unreadable) {
            for item in batch {
                count += 1
                if store.encryption == nil, EncryptedItem.hasForm(item.data) { encrypted += 1 }
                bytes += item.data.count
                largest = max(largest, item.data.count)
                guard let dates = item.dates else { continue }
                oldest = min(oldest ?? dates.createdAt, dates.createdAt)
                newest = max(newest ?? dates.updatedAt, dates.updatedAt)
            }
        }
        if store.address.fileURL != nil {
            fileBytes = try Self.sizeOfFiles(at: store.address)
            allocatedBytes = try Self.files(of: store.address).reduce(0) { $0 + Self.allocation(of: $1) }
        }
        isMeasured = true
    }

    /// The measurements as a JSON object on a line.
    package func json() -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("engine", address.engine.rawValue)
        object.add(place.name, place.value)
        if let collection = address.collection { object.add("collection", collection) }
        if isMeasured {
            if let collections { object.add("collections", collections) }
            object.add("count", count)
            object.add("bytes", bytes)
            object.add("largest", largest)
            if encrypted > 0 { object.add("encrypted", encrypted) }
            if let fileBytes { object.add("fileBytes", fileBytes) }
            if let allocatedBytes { object.add("allocatedBytes", allocatedBytes) }
            if let oldest { object.add("oldest", ItemLine.timestamp(oldest)) }
            if let newest { object.add("newest", ItemLine.timestamp(newest)) }
        }
        if let problems { object.add("problems", problems) }
        return object.line()
    }

    /// The measurements as text, one line each.
    ///
    /// - Parameter isEscaping: Whether control characters in names are escaped.
    package func text(isEscaping: Bool) -> String {
        var lines = [("engine", address.engine.rawValue), (place.name, place.value)]
        if let collection = address.collection { lines.append(("collection", collection)) }
        if isMeasured { lines += measures }
        if let problems { lines += (problems.isEmpty ? ["none found"] : problems).map { ("problem", $0) } }
        return lines.map { name, value in
            let padding = String(repeating: " ", count: 12 - name.count)
            return name + padding + (isEscaping ? TerminalText.escaped(value) : value) + "\n"
        }.joined()
    }

    /// The path, or the URL of a database without a password.
    private var place: (name: String, value: String) {
        guard let url = address.connectionURL else { return ("path", address.path) }
        return ("url", StorageAddress.postgres(url).description)
    }

    private var measures: [(String, String)] {
        var lines: [(String, String)] = []
        if let collections, !collections.isEmpty { lines.append(("collections", collections.joined(separator: ", "))) }
        lines += [("items", "\(count)"), ("bytes", "\(bytes)"), ("largest", "\(largest)")]
        if encrypted > 0 { lines.append(("encrypted", "\(encrypted)")) }
        if let allocatedBytes { lines.append(("on disk", "\(allocatedBytes)")) }
        if let oldest { lines.append(("oldest", ItemLine.timestamp(oldest))) }
        if let newest { lines.append(("newest", ItemLine.timestamp(newest))) }
        return lines
    }

    /// The number of bytes in a store's files.
    package static func sizeOfFiles(at address: StorageAddress) throws -> Int {
        try files(of: address).reduce(0) { $0 + size(of: $1) }
    }

    /// The paths of a store's files and folders. Some of them may not exist.
    private static func files(of address: StorageAddress) throws -> [[UInt8]] {
        switch address.engine {
        case .sqlite:
            // The database, its write-ahead log and the log's index. SQLite keeps them beside the file itself, not
            // beside a symbolic link to it.
            let path = URL(fileURLWithPath: address.path).resolvingSymlinksInPath().path
            return ["", "-wal", "-shm"].map { Array((path + $0).utf8) }
        case .memory, .postgres:
            return []
        case .disk:
            guard let folder = address.fileURL?.resolvingSymlinksInPath() else { return [] }
            var paths = [Array(folder.path.utf8)]
            var next = 0
            while next < paths.count {
                let path = paths[next]
                next += 1
                let status = FileStatus(path: path, followingLinks: false)
                if let status, !status.isFolder { continue }
                guard status != nil, let names = systemNames(inFolder: path) else {
                    if lastErrorIsAbsence { continue }
                    throw ToolError(
                        .failure, "\(String(decoding: path, as: UTF8.self)) can't be read: \(lastErrorText).")
                }
                paths += names.map { path + Array("/".utf8) + $0 }
            }
            return paths
        }
    }

    /// The size of a regular file; 0 for a folder or a missing file.
    private static func size(of path: [UInt8]) -> Int {
        guard let status = FileStatus(path: path, followingLinks: false), status.isRegular else { return 0 }
        return status.size
    }

    /// The number of bytes that the volume has allocated for a file or folder; 0 if it is missing.
    private static func allocation(of path: [UInt8]) -> Int {
        FileStatus(path: path, followingLinks: false)?.allocatedBytes ?? 0
    }
}
