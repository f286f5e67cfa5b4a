import Bodega
import Foundation

extension StorageEngineConformance.Check {

    static let streams = [streamsComeBack, streamedItemsAreItems, failedStreamsChangeNothing, streamsAreSnapshots]

    /// Items of all sizes can be written as streams with parts of any size, and be read as streams and as a whole.
    public static let streamsComeBack = Self("streams come back") { examination, engine in
        let key = examination.key("streamed")
        let absent = try await engine.fetchStream(key: key)
        examination.expectEqual(absent == nil, true, "fetchStream(key:) of an absent item is nil")
        let largest = min(examination.configuration.largestValue, 5_000_000)
        for size in [0, 1, 65_537, 1 << 20, (1 << 20) + 1, largest] where size <= largest {
            let data = patterned(size, seed: UInt64(size))
            try await engine.write(stream: StorageByteStream(Parts(of: data)), key: key)
            examination.expectEqual(try await engine.fetch(key: key), data, "fetch(key:) of \(size) streamed bytes")
            let stream = try await engine.fetchStream(key: key)
            examination.expectEqual(stream?.count ?? size, size, "the count of a stream of \(size) bytes")
            examination.expectEqual(try await stream?.data(), data, "fetchStream(key:) of \(size) streamed bytes")
        }
        let data = patterned(largest, seed: 1)
        try await engine.write(data, key: key)
        let stream = try await engine.fetchStream(key: key)
        examination.expectEqual(try await stream?.data(), data, "fetchStream(key:) of an item written as a whole")
        try await engine.write(stream: StorageByteStream(bytes("small again")), key: key)
        try await examination.expectState(of: engine, [(key, bytes("small again"))], "after a small stream")
    }

    /// An item that was written as a stream has its place in the order and its dates, like any other, and can be
    /// overwritten and removed.
    public static let streamedItemsAreItems = Self("streamed items are items") { examination, engine in
        let large = patterned(min(examination.configuration.largestValue, 1_500_000), seed: 2)
        try await engine.write(examination.items("a", "b", "c"))
        let items = [("b", large), ("d", large), ("a", bytes("a2"))].map { (examination.key($0), $1) }
        for (key, data) in items { try await engine.write(stream: StorageByteStream(Parts(of: data)), key: key) }
        let (a, b, c, d) = (examination.key("a"), examination.key("b"), examination.key("c"), examination.key("d"))
        let expected = [(a, bytes("a2")), (b, large), (c, bytes("c")), (d, large)]
        try await examination.expectState(of: engine, expected, "after three streams")
        let otherKinds = [CacheKey(verbatim: d.identity), CacheKey(verbatim: "e é/\u{1F600}")]
        for key in otherKinds where examination.configuration.capabilities.contains(.exactKeys) {
            try await engine.write(stream: StorageByteStream(large), key: key)
            examination.expectEqual(try await engine.fetchStream(key: key)?.data(), large, "the stream of \(key)")
            try await engine.remove(key: key)
        }
        try await engine.remove(keys: [b, d])
        try await engine.write(bytes("d2"), key: d)
        try await examination.expectState(
            of: engine, [(a, bytes("a2")), (c, bytes("c")), (d, bytes("d2"))], "after streamed items were removed")
    }

    /// A stream that fails midway throws its error, and neither adds nor changes an item.
    public static let failedStreamsChangeNothing = Self("a failed stream changes nothing") { examination, engine in
        try await engine.write(examination.items("a", "b"))
        for size in [10, 3 << 20] where size <= examination.configuration.largestValue {
            for name in ["b", "new"] {
                let parts = Parts(of: patterned(size, seed: 3), failsAtEnd: true)
                do {
                    try await engine.write(stream: StorageByteStream(parts), key: examination.key(name))
                    examination.record("a stream that fails", expected: "its error", actual: "success")
                } catch is Parts.Interruption {}
                try await examination.expectState(of: engine, examination.items("a", "b"), "after a failed stream")
            }
        }
    }

    /// A stream contains the item of the moment when it was opened, whatever happens to the item until it is read, and
    /// prevents no write.
    public static let streamsAreSnapshots = Self("streams are snapshots") { examination, engine in
        let (kept, removed) = (examination.key("kept"), examination.key("removed"))
        let old = patterned(min(examination.configuration.largestValue, 2_500_000), seed: 4)
        try await engine.write([(kept, old), (removed, old)])
        let streams = [try await engine.fetchStream(key: kept), try await engine.fetchStream(key: removed)]
        try await engine.write(patterned(old.count, seed: 5), key: kept)
        try await engine.remove(key: removed)
        for stream in streams {
            examination.expectEqual(try await stream?.data(), old, "a stream of an item that was changed since")
        }
    }
}

/// The bytes of an item in parts of different sizes, some of them empty.
private struct Parts: AsyncSequence, Sendable {
    struct Interruption: Error {}

    private let data: Data
    private let failsAtEnd: Bool

    init(of data: Data, failsAtEnd: Bool = false) { (self.data, self.failsAtEnd) = (data, failsAtEnd) }

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: Data
        let failsAtEnd: Bool
        var number = 0

        mutating func next() async throws -> Data? {
            number += 1
            if rest.isEmpty, failsAtEnd { throw Interruption() }
            if rest.isEmpty { return nil }
            // Grows, so that a large item is not many parts.
            let size = number % 3 == 0 ? 0 : Swift.min(number * number * 977, 2_000_000)
            defer { rest = rest.dropFirst(size) }
            return rest.prefix(size)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: data, failsAtEnd: failsAtEnd) }
}
