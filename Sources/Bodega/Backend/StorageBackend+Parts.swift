import Foundation

extension StorageBackend {

    /// Reads all items in parts, so that few of them are in memory at a time. Items that can't be read are in the
    /// reports.
    ///
    /// An item that changes in the meantime may be missing or come in its earlier form.
    ///
    /// - Parameters:
    ///   - options: How to read. Unreadable items are always left out.
    ///   - receive: Receives each part.
    package func readParts(
        options: ReadOptions = ReadOptions(),
        _ receive: (StorageAnswer<[StorageItem]>) async throws -> Void
    ) async throws {
        var options = options
        options.omitsUnreadable = true
        guard traits.contains(.stablePositions) else { return try await fetchParts(options, receive) }
        let part = Locked(ScannedPart())
        var isFull = true
        while isFull {
            let position = part.withLock { $0.position }
            let answer = try await scan(ScanRequest([.all(after: position)], options: options)) {
                part.withLock { $0 = ScannedPart(position: position) }
                return { _, item in part.withLock { $0.append(item) } }
            }
            isFull = part.withLock { $0.isFull }
            try await receive(StorageAnswer(part.withLock { $0.items }, answer.report))
        }
    }

    private func fetchParts(
        _ options: ReadOptions, _ receive: (StorageAnswer<[StorageItem]>) async throws -> Void
    ) async throws {
        var (remaining, size) = (try await fetchKeys(options: options)[...], PartSize())
        while !remaining.isEmpty {
            let answer = try await fetch(FetchRequest(size.next(of: &remaining), options: options))
            size.fit(bytes: answer.value.byteCount, count: answer.value.count)
            try await receive(answer)
        }
    }

    /// Reads all keys.
    package func fetchKeys(options: ReadOptions) async throws -> [CacheKey] {
        let keys = Locked<[CacheKey]>([])
        _ = try await scan(ScanRequest(fields: [], options: options)) {
            keys.withLock { $0 = [] }
            return { _, item in
                keys.withLock { $0.append(item.key) }
                return true
            }
        }
        return keys.withLock { $0 }
    }

    /// Reads all items.
    func fetchAll(options: ReadOptions) async throws -> StorageAnswer<[StorageItem]> {
        let items = Locked<[StorageItem]>([])
        let answer = try await scan(ScanRequest(options: options)) {
            items.withLock { $0 = [] }
            return { _, item in
                items.withLock { $0.append(item) }
                return true
            }
        }
        return StorageAnswer(items.withLock { $0 }, answer.report)
    }

    /// Counts up to the first item.
    func countFirst(options: ReadOptions) async throws -> StorageAnswer<ScanOutcome> {
        try await scan(ScanRequest([], counting: [.all(after: nil)], upTo: 1, options: options)) { { _, _ in true } }
    }
}

/// A part of the items of a scan.
private struct ScannedPart {
    private(set) var items: [StorageItem] = []
    /// The position of the last item of this or an earlier part.
    private(set) var position: Int?
    private var bytes = 0

    init(position: Int? = nil) { self.position = position }

    var isFull: Bool { items.count >= PartSize.maximumCount || bytes >= PartSize.maximumBytes }

    /// Appends an item, and returns whether there is space for another one.
    mutating func append(_ item: StorageItem) -> Bool {
        items.append(item)
        position = item.position
        bytes += item.data.count
        return !isFull
    }
}

/// How many items of unknown sizes to read with the next call, so that they have about a mebibyte.
///
/// The number begins small, doubles at most, and follows the average size of the items that were read. When small items
/// are followed by large ones, one part has more bytes: at most 128 of the large ones.
package struct PartSize: Sendable {
    static let maximumBytes = 1 << 20
    static let maximumCount = 500
    private static let maximumUnknown = 128

    private(set) var count = 2

    package init() {}

    /// Takes the next keys.
    package func next(of keys: inout ArraySlice<CacheKey>) -> [CacheKey] {
        let part = Array(keys.prefix(count))
        keys = keys.dropFirst(part.count)
        return part
    }

    /// Learns the size of items from some that were read.
    package mutating func fit(bytes: Int, count: Int) {
        let fitting = bytes == 0 ? Self.maximumUnknown : max(Self.maximumBytes * count / bytes, 1)
        self.count = min(fitting, 2 * self.count, Self.maximumUnknown)
    }
}
