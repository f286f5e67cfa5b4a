public import Foundation

/// A response whose body is read while it arrives.
///
/// ```swift
/// for try await part in try await transport.open(request) { … }
/// ```
///
/// The parts are those of the decompressed body, in their order, each as soon as it has arrived. Parts that arrive
/// while the reader is busy are joined. If the connection is lost before the last byte, the reader receives the bytes
/// that have arrived, and then an error. Only a body of which the server announces neither chunks nor a length ends
/// normally with its connection, because nothing else marks its end.
///
/// The sequence throws a `StorageError` as ``HTTPStorageTransport/send(_:)`` does, or `CancellationError` if the
/// reader's task is cancelled.
///
/// A stream is read once, by one task at a time. When its iterator is released, for example by a `break`, or when the
/// stream is released without one, the transfer stops and its connection is closed. Another iterator throws
/// `CancellationError` then.
public struct HTTPStorageStream: AsyncSequence, Sendable {
    public typealias Element = Data

    /// The head of the response: the status and the headers. Its body is empty.
    public let head: HTTPStorageResponse
    private let nextPart: @Sendable () async throws -> Data?
    private let lifetime: Lifetime

    /// Creates a stream, for a transport of your own.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - nextPart: Returns the next part of the body, or `nil` after the last one.
    ///   - stop: Stops the transfer. It is called when the iterator or the stream is released, also after the last
    ///     part, and possibly more than once.
    public init(
        head: HTTPStorageResponse, nextPart: @escaping @Sendable () async throws -> Data?,
        stop: @escaping @Sendable () -> Void = {}
    ) {
        (self.head, self.nextPart, lifetime) = (HTTPStorageResponse(head, body: Data()), nextPart, Lifetime(stop))
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(nextPart: nextPart, lifetime: Lifetime { [lifetime] in lifetime.stop() })
    }

    /// Reads the parts of the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let nextPart: @Sendable () async throws -> Data?
        fileprivate let lifetime: Lifetime

        public mutating func next() async throws -> Data? { try await nextPart() }
    }

    /// Stops the transfer when it is released.
    fileprivate final class Lifetime: Sendable {
        let stop: @Sendable () -> Void

        init(_ stop: @escaping @Sendable () -> Void) { self.stop = stop }

        deinit { stop() }
    }
}
