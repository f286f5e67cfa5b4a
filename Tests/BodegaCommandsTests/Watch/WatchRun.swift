#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import Testing

/// A run of `bodega watch`, or of another command that goes on until it is interrupted, in this process. Its lines are
/// awaited.
final class WatchRun: Sendable {
    private let task: Task<Int32, Never>
    private let interruption = Interruption()
    private let sink = LineSink()
    let errors = MemorySink()

    convenience init(_ arguments: String..., interval: String = "0.01", output: (any ByteSink)? = nil) async {
        await self.init(running: ["watch", "--interval", interval] + arguments, output: output)
    }

    init(running arguments: [String], output: (any ByteSink)? = nil) async {
        let (ready, continuation) = AsyncStream.makeStream(of: Void.self)
        var console = Console(input: MemorySource([]), output: output ?? sink, errors: errors) { 0 }
        console.interruption = interruption
        console.onReady = { continuation.finish() }
        task = Task { [console, sink] in
            let status = await Tool.run(arguments, console: console)
            continuation.finish()
            sink.finish()
            return status
        }
        for await _ in ready {}
    }

    /// The next line, without the time at its start.
    func next() async -> String? {
        await sink.next().map { String($0.dropFirst(26)) }
    }

    func nextRaw() async -> String? {
        await sink.next()
    }

    func end() async -> Int32 {
        interruption.interrupt(.interrupted)
        return await task.value
    }

    var status: Int32 { get async { await task.value } }

    /// Inserts, updates and removes items of a store, and expects a line for each change.
    static func expectChanges(of store: String) async throws {
        try #require(await bodega("put", store, "a", input: [1]).status == 0)
        let run = await WatchRun(store)
        try #require(await bodega("put", store, "b", input: [1]).status == 0)
        #expect(await run.next() == "inserted  b")
        try #require(await bodega("put", store, "a", input: [2]).status == 0)
        #expect(await run.next() == "updated   a")
        try #require(await bodega("rm", store, "b").status == 0)
        #expect(await run.next() == "removed   b")
        #expect(await run.end() == 0)
        #expect(run.errors.text.isEmpty)
    }
}

/// Provides complete lines, one by one.
private final class LineSink: ByteSink {
    private struct State {
        var lines: [String] = []
        var isFinished = false
        var waiting: CheckedContinuation<String?, Never>?
    }

    private let state = Locked(State())

    func write(_ bytes: UnsafeRawBufferPointer) {
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") { add(String(line)) }
    }

    private func add(_ line: String) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            if state.waiting == nil { state.lines.append(line) }
            return state.waiting
        }
        waiting?.resume(returning: line)
    }

    /// The next line, `nil` at the end.
    func next() async -> String? {
        await withCheckedContinuation { continuation in
            let line = state.withLock { state -> String?? in
                if !state.lines.isEmpty { return .some(state.lines.removeFirst()) }
                if state.isFinished { return .some(nil) }
                state.waiting = continuation
                return nil
            }
            if let line { continuation.resume(returning: line) }
        }
    }

    func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: nil)
    }
}
#endif
