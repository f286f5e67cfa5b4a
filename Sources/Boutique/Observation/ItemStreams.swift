import Bodega

/// The streams of the versions of single items.
///
/// A reader receives the latest version. Earlier unread versions are dropped, so a slow reader holds only one.
@MainActor
final class ItemStreams<Item: Sendable> {
    private typealias Continuation = AsyncStream<Item?>.Continuation

    private var streams: [CacheKey: [Int: Continuation]] = [:]
    private var nextNumber = 0

    nonisolated init() {}

    /// Returns a new stream of an item's versions.
    func stream(of key: CacheKey) -> AsyncStream<Item?> {
        let (stream, continuation) = AsyncStream.makeStream(of: Item?.self, bufferingPolicy: .bufferingNewest(1))
        let number = nextNumber
        nextNumber += 1
        streams[key, default: [:]][number] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { @MainActor in self?.remove(number, of: key) }
        }
        return stream
    }

    private func remove(_ number: Int, of key: CacheKey) {
        streams[key]?[number] = nil
        if streams[key]?.isEmpty == true { streams[key] = nil }
    }

    /// Yields a version to the readers of an item.
    func yield(_ key: CacheKey, _ item: Item?) {
        guard let continuations = streams[key] else { return }
        for continuation in continuations.values { continuation.yield(item) }
    }

    /// Yields the versions of changed items to their readers.
    func yield(_ keys: ChangedKeys, from contents: OrderedItems<Item>) {
        if streams.isEmpty { return }
        switch keys {
        case .any: yieldAll(from: contents)
        case .these(let keys): for key in Set(keys) { yield(key, contents[key]) }
        }
    }

    /// Yields the current versions to all readers.
    func yieldAll(from contents: OrderedItems<Item>) {
        for key in streams.keys { yield(key, contents[key]) }
    }

    /// Ends the streams.
    func finish() {
        for continuations in streams.values {
            for continuation in continuations.values { continuation.finish() }
        }
    }
}
