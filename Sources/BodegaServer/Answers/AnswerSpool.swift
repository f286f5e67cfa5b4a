#if Server
import Bodega
import Foundation
import NIOCore
import RecordCoder

/// The lines of an answer between an engine that produces them at its speed and a client that reads them at its own.
///
/// So a client that reads slowly, or not at all, never holds up an engine. What it has not read is in memory up to a
/// limit, and beyond it in a temporary file.
///
/// A reader is not woken for each line, which costs more than the line, but for some thousand bytes, for the end, or
/// for the next line after a moment.
///
/// Bytes are read in the order in which they were appended: those in memory first, then those in the file, and then
/// those that wait to be written to the file together.
final class AnswerSpool: Sendable {
    private static let memoryBytes = 1 << 20
    /// The number of bytes that are written to the file together.
    private static let partBytes = 256 << 10
    /// The number of bytes for which a reader is woken before the moment is over.
    fileprivate static let wakingBytes = 32 << 10
    /// The time in which a reader is not woken for fewer bytes.
    fileprivate static let moment: Duration = .milliseconds(20)

    fileprivate struct State {
        var memory: [UInt8] = []
        /// What comes after the file.
        var tail: [UInt8] = []
        var file: StreamFile?
        var fileOffset = 0
        var total = 0
        var end: Result<Void, any Error>?
        var isAbandoned = false
        var reader: CheckedContinuation<Void, Never>?
        /// When the reader was woken last.
        var wokenAt = ContinuousClock.now

        /// Whether all of it is in memory.
        var isSmall: Bool { file == nil && tail.isEmpty }

        /// Whether there is enough to wake a reader for.
        var isReady: Bool {
            if end != nil || memory.count >= AnswerSpool.wakingBytes || !isSmall { return true }
            return !memory.isEmpty && wokenAt.duration(to: .now) >= AnswerSpool.moment
        }
    }

    private let state = Locked(State())
    private let maximumBytes: Int
    private let space: AnswerFileSpace

    init(_ space: RequestSpace, _ limits: StorageServerLimits, _ metrics: StorageServerMetrics?) {
        maximumBytes = limits.answerBytes
        self.space = AnswerFileSpace(space: space, limit: limits.answerFileBytes, metrics: metrics)
    }

    /// Throws if there are lines, which would have to be read again from another moment.
    func checkIsEmpty() throws {
        if state.withLock({ $0.total > 0 }) { throw StorageError(.unreachable, "A read was cut off. Try again.") }
    }

    /// Appends a line with an object. It throws when no one reads any more, and beyond the maximum.
    ///
    /// - Parameter members: Adds the members of the object.
    func append(_ members: (inout JSONObjectWriter) -> Void) throws {
        let reader = try state.withLock { state in
            if state.isAbandoned { throw CancellationError() }
            if state.isSmall {
                let start = state.memory.count
                JSONObjectWriter.appendLine(to: &state.memory, members)
                state.total += state.memory.count - start
                if state.memory.count > Self.memoryBytes {
                    state.tail = Array(state.memory[start...])
                    state.memory.removeSubrange(start...)
                }
            } else {
                let start = state.tail.count
                JSONObjectWriter.appendLine(to: &state.tail, members)
                state.total += state.tail.count - start
            }
            guard state.total <= maximumBytes else {
                throw StorageError(.tooLarge, "The answer is larger than \(maximumBytes) bytes. Ask for less.")
            }
            if state.tail.count > Self.partBytes { try state.moveTailToFile(space) }
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Appends the last line.
    ///
    /// - Parameter members: Adds further members.
    func appendEnd(_ members: (inout JSONObjectWriter) -> Void = { _ in }) throws {
        try append { object in
            object.add("end", true)
            members(&object)
        }
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
            (state.memory, state.tail) = ([], [])
            state.closeFile(space)
        }
    }

    /// Whether the answer has ended before any of it was read, with the bytes or the error.
    func whole() -> Result<ByteBuffer, any Error>? {
        state.withLock { state in
            guard let end = state.end, state.isSmall else { return nil }
            return end.map { ByteBuffer(bytes: state.memory) }
        }
    }

    /// Waits until there is something to read, or the answer has ended.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.isReady {
                    state.wokenAt = .now
                    return true
                }
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
        let (memory, place) = state.withLock { state -> ([UInt8], (file: StreamFile, offset: Int)?) in
            var memory: [UInt8] = []
            if !state.memory.isEmpty {
                swap(&memory, &state.memory)
            } else if let file = state.file {
                return ([], (file, state.fileOffset))
            } else {
                swap(&memory, &state.tail)
            }
            return (memory, nil)
        }
        if !memory.isEmpty { return ByteBuffer(bytes: memory) }
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
        try tail.withUnsafeBytes { try write($0, to: space) }
        tail.removeAll(keepingCapacity: true)
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
        guard reader != nil, isReady else { return nil }
        wokenAt = .now
        defer { reader = nil }
        return reader
    }
}
#endif
