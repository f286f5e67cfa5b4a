import Bodega
import Foundation

/// Records in a folder, one file per record. A missing folder counts as empty, and is created by the first write.
final class FileCollection: RecordCollection {

    private let folder: DiskFolder
    // Held during a change and its `committed` call, so that these calls are in the order of the changes.
    private let order = NSLock()

    init(_ url: URL) {
        folder = DiskFolder(url: url, durability: .full)
    }

    /// Returns a key whose file is named after the identifier, as far as the file system permits.
    func key(_ text: String) -> CacheKey { CacheKey(verbatim: text) }

    func data(of key: CacheKey) throws -> Data? {
        try reading(orElse: nil) { try $0.data(of: key) }
    }

    func contains(_ key: CacheKey) throws -> Bool {
        try reading(orElse: false) { try !$0.existing(among: [key]).isEmpty }
    }

    func items() throws -> [(key: CacheKey, data: Data)] {
        try reading(orElse: []) { try $0.allItems() }
    }

    var canHoldStrays: Bool { true }

    func strays() throws -> [(key: CacheKey, data: Data)] {
        try reading(orElse: []) { try $0.strays() }
    }

    func file(of key: CacheKey) throws -> URL? {
        try reading(orElse: nil) { try $0.file(of: key) }
    }

    func update(
        _ body: @escaping @Sendable (any RecordContents) throws -> [StorageOperation],
        committed: @escaping @Sendable () -> Void
    ) throws {
        try ThreadTransaction.checkUse(of: self)
        order.lock()
        defer { order.unlock() }
        try folder.update(at: Date()) { try body($0) }
        committed()
    }

    func removeAll(committed: @escaping @Sendable ([(key: CacheKey, data: Data)]) -> Void) throws {
        try ThreadTransaction.checkUse(of: self)
        order.lock()
        defer { order.unlock() }
        guard try folder.exists() else { return committed([]) }
        let items = Locked<[(key: CacheKey, data: Data)]>([])
        try folder.update(at: Date()) { contents in
            let all = try contents.allItems()
            items.withLock { $0 = all }
            return [.removeAll]
        }
        committed(items.withLock { $0 })
        try folder.removeIfEmpty()
    }

    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        throw StorageError(
            .invalidArgument,
            """
            An engine on files has no transactions, because it can't change several files together. Use an SQLite \
            engine, such as .sqlite or .sqlite(in:).
            """,
            file: folder.url)
    }

    private func reading<Value>(orElse absent: Value, _ body: (DiskFolder) throws -> Value) throws -> Value {
        do {
            return try body(folder)
        } catch {
            if try !folder.exists() { return absent }
            // The folder may have been created since the first attempt.
            return try body(folder)
        }
    }
}
