#if Server
import Bodega
import Foundation
import NIOCore

/// The lines of an answer between an engine that produces them at its speed and a client that reads them at its own.
///
/// So a client that reads slowly, or not at all, never holds up an engine. What it has not read is in memory up to a
/// limit, and beyond it in a temporary file.
///
/// Bytes are read in the order in which they were appended: those in memory first, then those in the file, and then
/// those that wait to be written to the file together.
final class AnswerSpool: Sendable {
    private static let memoryBytes = 1 << 20
    /// The number of bytes that are written to the file together.
    private static let partBytes = 256 << 10

    fileprivate struct State {
        var memory = ByteBuffer()
        /// What comes after the file.
        var tail = ByteBuffer()
        var file: StreamFile?
        var fileOffset = 0
        var total = 0
        var end: Result<Void, any Error>?
        var isAbandoned = false
        var reader: CheckedContinuation<Void, Never>?

        var isEmpty: Bool { memory.readableBytes == 0 && file == nil && tail.readableBytes == 0 }
    }

    private let state = Locked(State())
    private let maximumBytes: Int
    private let space: AnswerFileSpace

    init(_ space: RequestSpace, _ limits: StorageServerLimits, _ metrics: StorageServerMetrics?) {
        maximumBytes = limits.answerBytes
        self.space = AnswerFileSpace(space: space, limit: limits.answerFileBytes, metrics: metrics)
    }

    /// Whether a line was appended.
    var hasBegun: Bool { state.withLock { $0.total > 0 } }

    /// Appends a line. It throws when no one reads any more, and beyond the maximum.
    func append(_ line: [UInt8]) throws {
        let reader = try state.withLock { state in
            if state.isAbandoned { throw CancellationError() }
            state.total += line.count
            guard state.total <= maximumBytes else {
                throw StorageError(.tooLarge, "The answer is larger than \(maximumBytes) bytes. Ask for less.")
            }
            if state.file == nil, state.tail.readableBytes == 0,
                state.memory.readableBytes + line.count <= Self.memoryBytes
            {
                state.memory.writeBytes(line)
            } else if state.tail.readableBytes + line.count <= Self.partBytes {
                state.tail.writeBytes(line)
            } else {
                try state.moveTailToFile(space)
                try line.withUnsafeBytes { try state.write($0, to: space) }
            }
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Ends the answer.
    func end(_ result: Result<Void, any Error>) {
        let reader = state.withLock { state in
            state.end = result
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Gives up the answer: nothing is read any more.
    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            (state.memory, state.tail) = (ByteBuffer(), ByteBuffer())
            state.closeFile(space)
        }
    }

    /// Whether the answer has ended before any of it was read, with the bytes or the error.
    func whole() -> Result<ByteBuffer, any Error>? {
        state.withLock { state in
            guard let end = state.end, state.file == nil, state.tail.readableBytes == 0 else { return nil }
            return end.map { state.memory }
        }
    }

    /// Waits until there is something to read, or the answer has ended.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if !state.isEmpty || state.end != nil { return true }
                state.reader = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// The next bytes; `nil` at the end of the answer.
    ///
    /// - Throws: The error with which the answer has ended, after all bytes before it.
    func next() async throws -> ByteBuffer? {
        await wait()
        let (memory, place) = state.withLock { state in
            if state.memory.readableBytes > 0 {
                defer { state.memory = ByteBuffer() }
                return (state.memory, nil as (file: StreamFile, offset: Int)?)
            }
            if let file = state.file { return (ByteBuffer(), (file, state.fileOffset)) }
            defer { state.tail = ByteBuffer() }
            return (state.tail, nil)
        }
        if memory.readableBytes > 0 { return memory }
        if let place {
            let part = try await place.file.read(at: place.offset)
            state.withLock { state in
                state.fileOffset += part.count
                if state.fileOffset == place.file.count { state.closeFile(space) }
            }
            return ByteBuffer(bytes: part)
        }
        try state.withLock { state in try state.end?.get() }
        return nil
    }
}

/// The space for the file of an answer.
private struct AnswerFileSpace {
    let space: RequestSpace
    let limit: Int
    let metrics: StorageServerMetrics?

    func take(_ count: Int) throws {
        do {
            try space.take(count)
        } catch SharedSpace.Shortage.ofClient {
            metrics?.refused(.answerFiles)
            throw StorageError(
                .tooLarge,
                """
                The answers that this client has not read are larger than \(limit) bytes, the limit. Read them first, \
                or ask for less.
                """)
        } catch SharedSpace.Shortage.ofAll {
            metrics?.refused(.answerFiles)
            throw StorageError(.storageFull, "The answers that clients have not read use all space for them.")
        }
    }

    func giveBack() { space.giveBack() }
}

extension AnswerSpool.State {
    fileprivate mutating func moveTailToFile(_ space: AnswerFileSpace) throws {
        let tail = tail
        self.tail.clear()
        try tail.withUnsafeReadableBytes { try write($0, to: space) }
    }

    fileprivate mutating func write(_ bytes: UnsafeRawBufferPointer, to space: AnswerFileSpace) throws {
        let file = try file ?? StreamFile.temporary()
        if self.file == nil { (self.file, fileOffset) = (file, 0) }
        try space.take(bytes.count)
        try file.blockingAppend(bytes)
    }

    fileprivate mutating func closeFile(_ space: AnswerFileSpace) {
        space.giveBack()
        file = nil
    }

    fileprivate mutating func takeReader() -> CheckedContinuation<Void, Never>? {
        defer { reader = nil }
        return reader
    }
}
#endif
