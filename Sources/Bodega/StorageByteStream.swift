public import Foundation

/// The bytes of an item in parts, for items that should not be in memory as a whole.
///
/// ```swift
/// try await engine.write(stream: StorageByteStream(contentsOf: video), key: CacheKey("video"))
///
/// if let stream = try await engine.fetchStream(key: CacheKey("video")) {
///     for try await part in stream { send(part) }
/// }
/// ```
///
/// No part is empty. The parts of a stream that an engine has returned have at most one mebibyte, unless the engine
/// reads items as a whole.
public struct StorageByteStream: AsyncSequence, Sendable {
    public typealias Element = Data

    enum Source: Sendable {
        case data(Data)
        case stored(any StoredBytes)
        case parts(@Sendable () -> any AsyncIteratorProtocol)
    }

    let source: Source

    /// The number of all bytes; `nil` if it is not known before the last part.
    public let count: Int?

    /// Creates a stream of parts that are produced on demand.
    ///
    /// - Parameter parts: The parts. Empty ones are skipped. An engine that writes the stream iterates over them once.
    public init<Parts: AsyncSequence & Sendable>(_ parts: Parts) where Parts.Element == Data {
        source = .parts { parts.makeAsyncIterator() }
        count = nil
    }

    /// Creates a stream of bytes in memory.
    ///
    /// - Parameter data: The bytes.
    public init(_ data: Data) {
        source = .data(data)
        count = data.count
    }

    package init(_ bytes: some StoredBytes) {
        source = .stored(bytes)
        count = bytes.count
    }

    /// Whether the stream can be iterated over again with the same bytes.
    var isRepeatable: Bool {
        if case .parts = source { false } else { true }
    }

    /// Reads all bytes into memory.
    ///
    /// - Throws: A ``StorageError``, or the error of the sequence from which the stream was created.
    public func data() async throws -> Data {
        if case .data(let data) = source { return data }
        var data = Data(capacity: count ?? 0)
        for try await part in self { data.append(part) }
        return data
    }

    /// Returns an iterator over the parts.
    public func makeAsyncIterator() -> AsyncIterator {
        switch source {
        case .data(let data): AsyncIterator(rest: .data(data))
        case .stored(let bytes): AsyncIterator(rest: .stored(bytes, offset: 0))
        case .parts(let make): AsyncIterator(rest: .parts(make()))
        }
    }

    /// An iterator over the parts of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        enum Rest {
            case data(Data)
            case stored(any StoredBytes, offset: Int)
            case parts(any AsyncIteratorProtocol)
        }

        var rest: Rest

        /// Returns the next part, `nil` after the last one.
        public mutating func next() async throws -> Data? {
            switch rest {
            case .data(let data):
                rest = .data(Data())
                return data.isEmpty ? nil : data
            case .stored(let bytes, let offset):
                let part = try await bytes.read(at: offset)
                rest = .stored(bytes, offset: offset + part.count)
                return part.isEmpty ? nil : part
            case .parts(var iterator):
                defer { rest = .parts(iterator) }
                while let part = try await iterator.next() as? Data {
                    if !part.isEmpty { return part }
                }
                return nil
            }
        }
    }
}

/// Bytes that can be read again, in parts.
package protocol StoredBytes: AnyObject, Sendable {
    /// The number of bytes.
    var count: Int { get }

    /// Reads a part, empty at the end.
    func read(at offset: Int) async throws -> Data
}
