import Bodega
import Foundation

/// Records in a folder, one file each. A folder that is missing is an empty one; it is made when something is saved.
final class FileCollection: RecordCollection {

    private let folder: DiskFolder
    // Held while something is changed and its observers are noted, so that they are noted in the order of the changes.
    private let order = NSLock()

    init(_ url: URL) {
        folder = DiskFolder(url: url, durability: .full)
    }

    /// Files are named after the identifiers, as far as files can be.
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
        order.lock()
        defer { order.unlock() }
        try folder.update(at: Date()) { try body($0) }
        committed()
    }

    private func reading<Value>(orElse absent: Value, _ body: (DiskFolder) throws -> Value) throws -> Value {
        do {
            return try body(folder)
        } catch {
            if try !folder.exists() { return absent }
            // It may not have been there yet when it was looked for.
            return try body(folder)
        }
    }
}
