@testable import BodegaCommands
import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// A pipe whose writer pauses. Where a read would block, it notes how many records are stored.
private final class PausingSource: ByteSource {
    enum Step {
        case bytes(String)
        case pause
    }

    private let steps: Locked<ArraySlice<Step>>
    private let engine: RecordingStorageEngine
    /// The numbers of records that were stored when a read blocked.
    let stored = Locked<[Int]>([])

    init(_ steps: [Step], _ engine: RecordingStorageEngine) {
        self.steps = Locked(steps[...])
        self.engine = engine
    }

    let size: Int? = nil
    let canWait = true

    func awaitBytes(seconds: Double) -> Bool {
        steps.withLock { if case .pause? = $0.first { false } else { true } }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            switch steps.withLock({ $0.popFirst() }) {
            case .bytes(let text)?:
                let bytes = Array(text.utf8)
                buffer.copyBytes(from: bytes)
                return bytes.count
            case .pause?:
                let count = engine.calls.filter { $0.operation == .apply }.reduce(0) { $0 + $1.keys.count }
                stored.withLock { $0.append(count) }
            case nil:
                return 0
            }
        }
    }
}

@Suite("The import of a pipe whose writer pauses")
struct LiveImportTests {

    private func run(
        _ steps: [PausingSource.Step], array: String? = nil, format: ImportInput.Format = .auto, batchSize: Int = 1000,
        clock: @escaping () -> Double = { 0 }
    ) async throws -> (stored: [Int], batches: [Int], error: ToolError?) {
        let engine = RecordingStorageEngine(MemoryStorageEngine())
        let source = PausingSource(steps, engine)
        let input = ImportInput(
            path: nil, format: format, array: try array.map(JSONPath.init(parsing:)),
            key: format == .export ? nil : try JSONPath(parsing: "id"), keyKind: .hashed)
        var failure: ToolError?
        do {
            var records = try input.records(standardInput: source)
            var report = ImportReport()
            let importer = Importer(engine: engine, batchSize: batchSize, skipsBadRecords: false)
            try await importer.run(&records, report: &report, clock: clock) { _ in
            } onProgress: { _, _, _ in
            }
        } catch let error as ToolError {
            failure = error
        }
        let batches = engine.calls.filter { $0.operation == .apply }.map(\.keys.count)
        return (source.stored.withLock { $0 }, batches, failure)
    }

    @Test("stores each line before it waits for the next one")
    func lines() async throws {
        let result = try await run([
            .bytes(#"{"id":1}"# + "\n"), .pause, .bytes(#"{"id":2}"# + "\n\r\n  \n" + #"{"id":3}"# + "\n" + #"{"id":"#),
            .pause, .bytes("4}\n\n"), .pause, .pause, .bytes(#"{"id":5}"#), .pause,
        ])
        #expect(result.stored == [1, 3, 4, 4, 4])
        #expect(result.batches == [1, 2, 1, 1])
        #expect(result.error == nil)
    }

    @Test("stores each line of an export, also before another header")
    func export() async throws {
        let header = Envelope.header + "\n"
        let result = try await run(
            [
                .bytes(header), .pause, .bytes(#"{"key":"a","json":1}"# + "\n" + header), .pause,
                .bytes(#"{"key":"b","json":1}"# + "\n"), .pause,
            ], format: .export)
        #expect(result.stored == [0, 1, 2])
    }

    @Test("stores each element of an array when it is complete")
    func elements() async throws {
        let result = try await run(
            [
                .bytes(#"{"x":0,"list":[ {"id":1}"#), .pause, .bytes(#" , {"id":2},{"id":3,"y":[1"#), .pause,
                .bytes("]}"), .pause, .bytes(","), .pause, .bytes(#"{"id":4}]"#), .pause, .bytes("}"), .pause,
            ], array: "list")
        #expect(result.stored == [1, 2, 3, 3, 4, 4])
        #expect(result.error == nil)
    }

    @Test("stores one line at a time with a batch size of one")
    func single() async throws {
        let lines = (1...3).map { #"{"id":\#($0)}"# + "\n" }.joined()
        #expect(try await run([.bytes(lines), .pause], batchSize: 1).batches == [1, 1, 1])
    }

    @Test("ends a batch half a second after its first line, even if more lines are there")
    func patience() async throws {
        let time = Locked(0.0)
        let lines = (1...10).map { #"{"id":\#($0)}"# + "\n" }.joined()
        let result = try await run(
            [.bytes(lines)],
            clock: {
                time.withLock {
                    $0 += 0.125; return $0
                }
            })
        // Each line takes at most two readings of the clock.
        #expect(result.batches.allSatisfy { (1...5).contains($0) } && result.batches.reduce(0, +) == 10)
    }

    @Test("stores all whole lines that were read when it is interrupted, though not all were scanned")
    func interrupted() async throws {
        let interruption = Interruption()
        let engine = RecordingStorageEngine(MemoryStorageEngine())
        let lines = (1...6).map { #"{"id":\#($0)}"# + "\n" }.joined()
        let source = PausingSource([.bytes(lines + #"{"id":7"#), .bytes("}\n")], engine)
        let input = ImportInput(
            path: nil, format: .auto, array: nil, key: try JSONPath(parsing: "id"), keyKind: .hashed)
        var records = try input.records(standardInput: source, interruption: interruption)
        var report = ImportReport()
        let importer = Importer(engine: engine, batchSize: 2, skipsBadRecords: false)
        await #expect(throws: ToolError(.interrupted, "Interrupted.")) {
            try await importer.run(&records, report: &report, interruption: interruption, clock: { 0 }) { _ in
            } onProgress: { _, _, _ in
                interruption.interrupt(.interrupted)
            }
        }
        #expect(report.imported == 6)
        #expect(engine.calls.filter { $0.operation == .apply }.map(\.keys.count) == [2, 2, 2])
    }

    @Test("reads a long element in linear time, however small its pieces are")
    func longElement() async throws {
        let padding = Array(repeating: String(repeating: "y", count: 1000), count: 4000)
        let steps = [.bytes(#"[{"id":1,"x":""#)] + padding.map { PausingSource.Step.bytes($0) } + [.bytes("\"}]")]
        let result = try await run(steps)
        #expect(result.batches == [1])
    }

    /// What `iconv` and Python write for these names.
    @Test(
        "names the encoding of input that is not UTF-8",
        arguments: [
            ("UTF-16LE", String.Encoding.utf16LittleEndian, [UInt8]()), ("UTF-16BE", .utf16BigEndian, []),
            ("UTF-32LE", .utf32LittleEndian, []), ("UTF-32BE", .utf32BigEndian, []),
            ("UTF-16", .utf16LittleEndian, [0xFF, 0xFE]), ("UTF-16", .utf16BigEndian, [0xFE, 0xFF]),
            ("UTF-32", .utf32LittleEndian, [0xFF, 0xFE, 0, 0]), ("UTF-32", .utf32BigEndian, [0, 0, 0xFE, 0xFF]),
        ])
    func encodings(name: String, encoding: String.Encoding, mark: [UInt8]) async throws {
        #if CommandLineTool
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            for text in ["{\"id\":1}\n", "[{\"id\":\"ü\"}]", "1"] {
                let input = mark + (try #require(text.data(using: encoding)))
                let result = await bodega("import", store, "--key", "id", input: input)
                #expect(result.status == 4)
                #expect(result.errors.hasPrefix("bodega: The input seems to be \(name), and import reads UTF-8. "))
            }
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("store.db").path))
        }
        #endif
    }
}
