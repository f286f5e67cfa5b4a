import Foundation

extension StorageEngine {

    /// Reads all items in insertion order, in parts of at most 500 items and about a mebibyte, so that they need not
    /// fit into memory.
    ///
    /// An engine that passes on its items one by one reads exactly that. Of another engine the keys are read first, and
    /// a part has the size that fits the items of the one before, see ``PartSize``. Items that are added later are not
    /// necessarily included, nor those that are removed before their turn.
    ///
    /// A sequence that ends early when its task is cancelled would look like one of fewer items, so this is a call that
    /// returns after the last part, or throws.
    func readParts(_ receive: (PartialRead<[(key: CacheKey, data: Data)]>) async throws -> Void) async throws {
        if self is any QueryableStorageEngine { return try await scanParts(receive) }
        var (remaining, size) = (try await fetchKeys()[...], PartSize())
        while !remaining.isEmpty {
            let keys = size.next(of: &remaining)
            let part = try await PartialRead(from: self) { try await $0.fetch(keys: keys) }
            size.fit(part.value)
            try await receive(part)
        }
    }

    private func scanParts(
        _ receive: (PartialRead<[(key: CacheKey, data: Data)]>) async throws -> Void
    ) async throws {
        let scanned = Locked(ScannedPart())
        var isFull = true
        while isFull {
            let position = scanned.withLock { $0.position }
            let part = try await PartialRead(from: self as any StorageEngine) { engine in
                try await engine.queryable.engine.scan([.all(after: position)]) {
                    scanned.withLock { $0 = ScannedPart() }
                    return { _, entry in scanned.withLock { $0.append(entry) } }
                }
                return scanned.withLock { $0.items }
            }
            isFull = scanned.withLock { $0.isFull }
            try await receive(part)
        }
    }
}

/// The items of a part of a scan.
private struct ScannedPart {
    private(set) var items: [(key: CacheKey, data: Data)] = []
    private(set) var position: Int?
    private var bytes = 0

    var isFull: Bool { items.count >= PartSize.maximumCount || bytes >= PartSize.maximumBytes }

    /// Adds an item, and returns whether there is room for another one.
    mutating func append(_ entry: StorageEntry) -> Bool {
        items.append((entry.key, entry.data))
        position = entry.place.position
        bytes += entry.data.count
        return !isFull
    }
}

/// How many items of unknown sizes to read with the next call, so that they have about a mebibyte.
///
/// The number begins small, doubles at most, and follows the average size of the items that were read. When small items
/// are followed by large ones, one part has more bytes: at most 128 of the large ones.
struct PartSize: Sendable {
    static let maximumBytes = 1 << 20
    static let maximumCount = 500
    private static let maximumUnknown = 128

    private(set) var count = 2

    /// Takes the next keys.
    func next(of keys: inout ArraySlice<CacheKey>) -> [CacheKey] {
        let part = Array(keys.prefix(count))
        keys = keys.dropFirst(part.count)
        return part
    }

    /// Adapts the number to the items of a part.
    mutating func fit(_ items: [(key: CacheKey, data: Data)]) {
        let bytes = items.reduce(0) { $0 + $1.data.count }
        let fitting = bytes == 0 ? Self.maximumUnknown : max(Self.maximumBytes * items.count / bytes, 1)
        count = min(fitting, 2 * count, Self.maximumUnknown)
    }
}
