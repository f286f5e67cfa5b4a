import Bodega
@testable import BodegaCommands
import Foundation

/// Provides bytes in small pieces, as pipes do.
final class MemorySource: ByteSource {
    private let rest: LockedBytes
    private let piece: Int
    let size: Int?

    init(_ bytes: [UInt8], piece: Int = 7, size: Int? = nil) {
        self.rest = LockedBytes(bytes[...])
        self.piece = piece
        self.size = size
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        rest.withLock { rest in
            let count = min(piece, rest.count, buffer.count)
            buffer.copyBytes(from: rest.prefix(count))
            rest.removeFirst(count)
            return count
        }
    }
}

/// Collects bytes.
final class MemorySink: ByteSink {
    private let collected = LockedBytes([])

    func write(_ bytes: UnsafeRawBufferPointer) {
        collected.withLock { $0.append(contentsOf: bytes) }
    }

    var bytes: [UInt8] { collected.withLock { Array($0) } }
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// A pipe without a reader.
final class ClosedSink: ByteSink {
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        throw BrokenPipe()
    }
}

typealias LockedBytes = Locked<ArraySlice<UInt8>>

/// An in-memory console, whose clock advances by a second whenever it is read.
struct TestConsole {
    let output = MemorySink()
    let errors = MemorySink()
    var console: Console

    init(input: [UInt8] = []) {
        let seconds = Locked(0.0)
        console = Console(input: MemorySource(input), output: output, errors: errors) {
            seconds.withLock {
                $0 += 1
                return $0
            }
        }
    }
}

/// The result of a run of the tool.
struct RunResult: Equatable {
    var status: Int32
    var output: [UInt8]
    var errors: String
    var text: String { String(decoding: output, as: UTF8.self) }
}

/// Runs the tool in this process.
func bodega(
    _ arguments: String...,
    input: [UInt8] = [],
    configure: (inout Console) -> Void = { _ in }
) async -> RunResult {
    await bodega(arguments: arguments, input: input, configure: configure)
}

/// Runs the tool in this process. If a server does not accept a connection in time, the machine is busy, nothing has
/// changed, and the tool runs again.
func bodega(
    arguments: [String],
    input: [UInt8] = [],
    configure: (inout Console) -> Void = { _ in }
) async -> RunResult {
    var result = RunResult(status: 0, output: [], errors: "")
    for _ in 0..<5 {
        var test = TestConsole(input: input)
        configure(&test.console)
        let status = await Tool.run(arguments, console: test.console)
        result = RunResult(status: status, output: test.output.bytes, errors: test.errors.text)
        if !result.errors.contains("did not accept the connection in time") { break }
    }
    return result
}

/// Calls a function with a folder of its own, which is removed afterwards.
func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bodega-commands-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(folder)) } catch { result = .failure(error) }
    try FileManager.default.removeItem(at: folder)
    return try result.get()
}

/// The addresses of a store of every engine in a folder.
let storeAddresses: [@Sendable (URL) -> String] = [
    { "sqlite:\($0.appendingPathComponent("store.db").path)" },
    { "disk:\($0.appendingPathComponent("store").path)" },
]
