import Bodega
import Foundation
import RecordCoder

/// The measurements of a store.
struct StoreStatistics: Sendable {
    /// Where the store is.
    var address: StorageAddress
    /// The names of the collections in an SQLite file or a database; `nil` for a folder.
    var collections: [String]?
    /// The references to items of other collections that programs have declared.
    var references: [StorageReference] = []
    /// The number of items.
    var count = 0
    /// The number of bytes in the values.
    var bytes = 0
    /// The number of bytes in the largest value.
    var largest = 0
    /// The number of items that are encrypted and were measured without a keyset.
    var encrypted = 0
    /// The items that could not be read.
    let unreadable = UnreadableItems()
    /// The number of bytes in the store's files; `nil` for a database, whose files belong to its server.
    var fileBytes: Int?
    /// The number of bytes that the volume uses for these files and the store's folders; `nil` for a database.
    var allocatedBytes: Int?
    /// The earliest date at which an item was created, `nil` if there are no items.
    var oldest: Date?
    /// When an item was last written, `nil` if there are no items.
    var newest: Date?
    /// Whether the items were measured; otherwise the output has no numbers and dates.
    private(set) var isMeasured = false
    /// The problems of the file, `nil` if it was not examined.
    var problems: [String]?

    /// Measures a store, by reading every item.
    ///
    /// - Throws: A `StorageError` if an item can't be read.
    mutating func measure(_ store: OpenStore) async throws {
        collections = try await store.collectionNames()
        references = try await store.engine.references?.fetchReferences() ?? []
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
            let files = try Self.files(of: store.address)
            fileBytes = Self.size(of: files)
            allocatedBytes = files.reduce(0) { $0 + $1.allocatedBytes }
        }
        isMeasured = true
    }

    /// The measurements as a JSON object on a line.
    func json() -> [UInt8] {
        let measures: JSONObjectWriter.Members = [
            "collections": collections, "count": count, "bytes": bytes, "largest": largest,
            "encrypted": encrypted > 0 ? encrypted : nil, "fileBytes": fileBytes, "allocatedBytes": allocatedBytes,
            "oldest": oldest.map(ItemLine.timestamp), "newest": newest.map(ItemLine.timestamp),
            "references": references.isEmpty ? nil : references.map(Self.text),
        ]
        return JSONObjectWriter.line(
            ["engine": address.engine.rawValue, place.name: place.value, "collection": address.collection],
            isMeasured ? measures : [:], ["problems": problems])
    }

    /// The measurements as text, one line each.
    ///
    /// - Parameter isEscaping: Whether control characters in names are escaped.
    func text(isEscaping: Bool) -> String {
        var lines = [("engine", address.engine.rawValue), (place.name, place.value)]
        if let collection = address.collection { lines.append(("collection", collection)) }
        if isMeasured { lines += measures }
        if let problems { lines += (problems.isEmpty ? ["none found"] : problems).map { ("problem", $0) } }
        return lines.map { name, value in
            let padding = String(repeating: " ", count: 12 - name.count)
            return name + padding + (isEscaping ? TerminalText.escaped(value) : value) + "\n"
        }.joined()
    }

    /// The path, or the URL of a database or a server without a password.
    private var place: (name: String, value: String) {
        if let url = address.connectionURL { return ("url", StorageAddress.postgres(url).description) }
        if let url = address.serverURL { return ("url", StorageAddress.server(url).description) }
        return ("path", address.path)
    }

    private var measures: [(String, String)] {
        var lines: [(String, String)] = []
        if let collections, !collections.isEmpty { lines.append(("collections", collections.joined(separator: ", "))) }
        lines += references.map { ("reference", Self.text($0)) }
        lines += [("items", "\(count)"), ("bytes", "\(bytes)"), ("largest", "\(largest)")]
        if encrypted > 0 { lines.append(("encrypted", "\(encrypted)")) }
        if let allocatedBytes { lines.append(("on disk", "\(allocatedBytes)")) }
        if let oldest { lines.append(("oldest", ItemLine.timestamp(oldest))) }
        if let newest { lines.append(("newest", ItemLine.timestamp(newest))) }
        return lines
    }

    /// A reference as text, such as `folderID -> folders, remove`.
    private static func text(_ reference: StorageReference) -> String {
        let target = reference.target.isEmpty ? "(unnamed)" : reference.target
        let identifier = reference.targetPath == "id" ? "" : " by \(reference.targetPath)"
        let path = reference.isList ? "\(reference.path)[]" : reference.path
        return "\(path) -> \(target)\(identifier), \(reference.onRemoval.rawValue)"
    }

    /// The number of bytes in a store's files.
    static func sizeOfFiles(at address: StorageAddress) throws -> Int { size(of: try files(of: address)) }

    private static func size(of files: [FileStatus]) -> Int { files.reduce(0) { $0 + ($1.isRegular ? $1.size : 0) } }

    /// The status of each of a store's files and folders.
    private static func files(of address: StorageAddress) throws -> [FileStatus] {
        switch address.engine {
        case .sqlite:
            // The database, its write-ahead log and the log's index. SQLite keeps them beside the file itself, not
            // beside a symbolic link to it.
            let path = URL(fileURLWithPath: address.path).resolvingSymlinksInPath().path
            return ["", "-wal", "-shm"].compactMap { FileStatus(path: Array((path + $0).utf8), followingLinks: false) }
        case .memory, .postgres, .server:
            return []
        case .disk:
            guard let folder = address.fileURL?.resolvingSymlinksInPath() else { return [] }
            var files: [FileStatus] = []
            var pending = [Array(folder.path.utf8)]
            while let path = pending.popLast() {
                let status = FileStatus(path: path, followingLinks: false)
                if let status { files.append(status) }
                if let status, !status.isFolder { continue }
                guard status != nil, let names = systemNames(inFolder: path) else {
                    if errno == ENOENT { continue }
                    throw ToolError(
                        .failure, "\(String(decoding: path, as: UTF8.self)) can't be read: \(lastErrorText).")
                }
                pending += names.map { path + Array("/".utf8) + $0 }
            }
            return files
        }
    }
}
