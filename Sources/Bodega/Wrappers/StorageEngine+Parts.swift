import Foundation

extension StorageEngine {

    /// All items in insertion order, in parts of at most 500 items and about a mebibyte, so that they need not fit into
    /// memory.
    ///
    /// An engine that passes on its items one by one reads exactly that. Of another engine the keys are read first, and
    /// a part has the size that fits the items of the one before, see ``PartSize``. Items that are added later are not
    /// necessarily included, nor those that are removed before their turn.
    func parts() -> AsyncThrowingStream<PartialRead<[(key: CacheKey, data: Data)]>, any Error> {
        self is any QueryableStorageEngine ? scannedParts() : keyedParts()
    }

    private func keyedParts() -> AsyncThrowingStream<PartialRead<[(key: CacheKey, data: Data)]>, any Error> {
        let remaining = Locked<(keys: ArraySlice<CacheKey>, size: PartSize)?>(nil)
        return AsyncThrowingStream {
            if remaining.withLock({ $0 }) == nil {
                let keys = try await fetchKeys()
                remaining.withLock { $0 = (keys[...], PartSize()) }
            }
            let keys = remaining.withLock { remaining -> [CacheKey] in
                guard case (var keys, let size)? = remaining else { return [] }
                defer { remaining = (keys, size) }
                return size.next(of: &keys)
            }
            if keys.isEmpty { return nil }
            let part = try await PartialRead(from: self) { try await $0.fetch(keys: keys) }
            remaining.withLock { $0?.size.fit(part.value) }
            return part
        }
    }

    private func scannedParts() -> AsyncThrowingStream<PartialRead<[(key: CacheKey, data: Data)]>, any Error> {
        let place = Locked<(position: Int?, isComplete: Bool)>((nil, false))
        return AsyncThrowingStream {
            let (position, isComplete) = place.withLock { $0 }
            if isComplete { return nil }
            let scanned = Locked(ScannedPart())
            let part = try await PartialRead(from: self as any StorageEngine) { engine in
                try await engine.queryable.engine.scan([.all(after: position)]) {
                    scanned.withLock { $0 = ScannedPart() }
                    return { _, entry in scanned.withLock { $0.append(entry) } }
                }
                return scanned.withLock { $0.items }
            }
            place.withLock { $0 = scanned.withLock { ($0.position, !$0.isFull) } }
            return part
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
