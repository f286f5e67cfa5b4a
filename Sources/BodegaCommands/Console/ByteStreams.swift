import Bodega
import Foundation

/// A source of bytes, read one chunk after another.
protocol ByteSource: AnyObject, Sendable {
    /// Fills a part of a buffer.
    ///
    /// - Parameter buffer: Where the bytes go; not empty.
    /// - Returns: The number of bytes, 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int

    /// The number of bytes from start to end, if it is known.
    var size: Int? { get }

    /// The descriptor to wait for before reading, `nil` if reading never waits.
    var descriptorToAwait: Int32? { get }

    /// Whether a read can wait for a writer, as that of a pipe or a terminal does.
    var canWait: Bool { get }

    /// Waits until a read does not wait, or until some time has passed or the command is interrupted.
    ///
    /// - Parameter seconds: The time; 0 does not wait.
    /// - Returns: Whether a read does not wait: there are bytes, or the end.
    func awaitBytes(seconds: Double) -> Bool
}

extension ByteSource {
    var descriptorToAwait: Int32? { nil }

    var canWait: Bool { descriptorToAwait != nil && size == nil }

    func awaitBytes(seconds: Double) -> Bool {
        descriptorToAwait.map { systemCanRead($0, seconds: seconds) } ?? true
    }
}

/// A destination of bytes.
protocol ByteSink: AnyObject, Sendable {
    /// Writes all bytes.
    ///
    /// - Throws: ``BrokenPipe`` if the reader has closed the pipe, ``ToolError`` if the bytes can't be written.
    func write(_ bytes: UnsafeRawBufferPointer) throws

    /// Whether the reader is known to have closed the pipe.
    var isAbandoned: Bool { get }

    /// An element when the reader closes the pipe, also while nothing is written.
    func abandonment() -> AsyncStream<Void>
}

extension ByteSink {
    var isAbandoned: Bool { false }

    func abandonment() -> AsyncStream<Void> { AsyncStream { _ in } }

    /// Writes a text as UTF-8.
    func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }
}

/// Reads from a file descriptor.
final class DescriptorSource: ByteSource {
    private let descriptor: Int32
    private let name: String
    private let isOwned: Bool

    /// Reads from an open descriptor, which stays open and has a name in error messages.
    init(descriptor: Int32, name: String) {
        (self.descriptor, self.name, isOwned) = (descriptor, name, false)
    }

    /// Opens a file.
    ///
    /// - Throws: A ``ToolError`` if it can't be opened.
    init(path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ToolError(.failure, "\(path) can't be opened: \(lastErrorText).") }
        (self.descriptor, name, isOwned) = (descriptor, path, true)
    }

    deinit {
        if isOwned { close(descriptor) }
    }

    var size: Int? { FileStatus(descriptor: descriptor).flatMap { $0.isRegular ? $0.size : nil } }

    var descriptorToAwait: Int32? { descriptor }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = systemRead(descriptor, buffer)
        guard count >= 0 else { throw ToolError(.failure, "\(name) can't be read: \(lastErrorText).") }
        return count
    }
}

/// A source whose reads end when the command is interrupted, even if no bytes arrive.
final class InterruptibleSource: ByteSource {
    private let source: any ByteSource
    private let interruption: Interruption

    init(_ source: any ByteSource, _ interruption: Interruption) {
        (self.source, self.interruption) = (source, interruption)
    }

    var size: Int? { source.size }

    var canWait: Bool { source.canWait }

    func awaitBytes(seconds: Double) -> Bool {
        if interruption.status != nil { return false }
        guard let descriptor = source.descriptorToAwait else { return source.awaitBytes(seconds: seconds) }
        return interruption.canRead(descriptor, seconds: seconds)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        if let descriptor = source.descriptorToAwait { try interruption.waitToRead(descriptor) }
        try interruption.check()
        return try source.read(into: buffer)
    }
}

/// Writes to a file descriptor.
final class DescriptorSink: ByteSink {
    private let descriptor: Int32
    private let name: String

    /// Writes to an open descriptor, which stays open and has a name in error messages.
    init(descriptor: Int32, name: String) { (self.descriptor, self.name) = (descriptor, name) }

    var isAbandoned: Bool { hasNoReader(descriptor) }

    func abandonment() -> AsyncStream<Void> {
        AsyncStream { [descriptor] continuation in
            let hasEnded = Locked(false)
            continuation.onTermination = { _ in hasEnded.withLock { $0 = true } }
            // It waits in the system, for at most a minute longer than the stream.
            let thread = Thread {
                while !hasEnded.withLock({ $0 }) {
                    if hasNoReader(descriptor, seconds: 60) {
                        continuation.yield()
                        return
                    }
                }
            }
            thread.name = "bodega.output"
            thread.start()
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = systemWrite(descriptor, rest)
            guard count >= 0 else {
                if errno == EPIPE { throw BrokenPipe() }
                throw ToolError(.failure, "\(name) can't be written: \(lastErrorText).")
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }
}

extension ByteSource {

    /// The rest of the bytes, as a stream that can be read once.
    var stream: StorageByteStream { StorageByteStream(Parts(source: self)) }
}

private struct Parts: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let source: any ByteSource

    func next() async throws -> Data? {
        var part = Data(count: 1 << 20)
        let count = try part.withUnsafeMutableBytes { try source.read(into: $0) }
        return count == 0 ? nil : part.prefix(count)
    }

    func makeAsyncIterator() -> Parts { self }
}
