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
/// those that were appended to memory after the file had been read.
final class AnswerSpool: Sendable {
    private static let memoryBytes = 1 << 20

    fileprivate struct State {
        var memory = ByteBuffer()
        var file: StreamFile?
        var fileOffset = 0
        /// The space that the file takes.
        var fileBytes = 0
        var total = 0
        var end: Result<Void, any Error>?
        var isAbandoned = false
        var reader: CheckedContinuation<Void, Never>?

        var isEmpty: Bool { memory.readableBytes == 0 && file == nil }
    }

    private let state = Locked(State())
    private let maximumBytes: Int
    private let space: AnswerFileSpace

    init(maximumBytes: Int, space: AnswerFileSpace) { (self.maximumBytes, self.space) = (maximumBytes, space) }

    deinit { state.withLock { $0.closeFile(space) } }

    /// Appends a line. It throws when no one reads any more, and beyond the maximum.
    func append(_ line: [UInt8]) throws {
        let reader = try state.withLock { state in
            if state.isAbandoned { throw CancellationError() }
            state.total += line.count
            guard state.total <= maximumBytes else {
                throw StorageError(.tooLarge, "The answer is larger than \(maximumBytes) bytes. Ask for less.")
            }
            if state.file == nil, state.memory.readableBytes + line.count > Self.memoryBytes {
                state.file = try StreamFile.temporary()
                state.fileOffset = 0
            }
            if let file = state.file {
                try space.take(line.count)
                state.fileBytes += line.count
                try line.withUnsafeBytes { try file.blockingAppend($0) }
            } else {
                state.memory.writeBytes(line)
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
            state.memory = ByteBuffer()
            state.closeFile(space)
        }
    }

    /// Whether the answer has ended before any of it was read, with the bytes or the error.
    func whole() -> Result<ByteBuffer, any Error>? {
        state.withLock { state in
            guard let end = state.end, state.file == nil else { return nil }
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
            return (ByteBuffer(), state.file.map { ($0, state.fileOffset) })
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

extension AnswerSpool.State {
    fileprivate mutating func closeFile(_ space: AnswerFileSpace) {
        space.giveBack(fileBytes)
        (file, fileBytes) = (nil, 0)
    }

    fileprivate mutating func takeReader() -> CheckedContinuation<Void, Never>? {
        defer { reader = nil }
        return reader
    }
}
#endif
