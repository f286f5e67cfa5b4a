import Bodega
import BodegaServer
import Browsing
import Foundation
import Testing

@Suite("The tool and a server that ends")
struct ToolInterruptionTests {
    private let tool: BodegaTool

    init() throws { tool = try BodegaTool() }

    /// Kills a process before it answers a request, as soon as a condition is met.
    private actor KillingAccess: StorageAccess {
        private var victim: ServerProcess?
        private let condition: @Sendable () async throws -> Bool

        init(_ victim: ServerProcess, when condition: @escaping @Sendable () async throws -> Bool) {
            (self.victim, self.condition) = (victim, condition)
        }

        func client(bearing token: String?) async throws -> StorageClient? {
            if let victim, try await condition() {
                self.victim = nil
                _ = try await victim.stop(SIGKILL)
            }
            return StorageClient(id: "tool", otherScope: StorageScope(rights: .all))
        }
    }

    /// An engine that applies batches, and then fails as if the answer had been lost.
    private struct Unanswering: ForwardingStorageEngine {
        let base: any StorageBackend

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: @concurrent () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> { try await body() }

        func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
            _ = try await base.apply(batch)
            throw StorageError(.unreachable, "The answer was lost.")
        }
    }

    @Test("An import that gets no answer does not say that nothing was imported")
    func unansweredImport() async throws {
        let engine = MemoryStorageEngine()
        let server = try await TestServer(["notes": Unanswering(base: engine)])
        let lines = [#"{"$bodega":{"export":1}}"#, #"{"key":"a","json":1}"#, #"{"key":"b","json":2}"#]
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: tool.path("items.json")))
        let outcome = try await tool.run(["import", "\(server.url)#notes", "items.json"])
        #expect(try await engine.fetchCount() == 2)
        #expect(outcome.status == 1 && outcome.errors.contains("Whether more were is not known"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("..") && !outcome.errors.contains("Nothing"), "\(outcome.errors)")
        await server.stop()
    }

    /// An engine whose keys can be read, and whose items can't be reached.
    private struct Unreachable: ForwardingStorageEngine {
        let base: any StorageBackend

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: @concurrent () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> { try await body() }

        func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
            throw StorageError(.unreachable, "The connection was lost.")
        }
    }

    @Test("An examination that is cut off does not advise to restore the store")
    func unreachableItems() async throws {
        let engine = MemoryStorageEngine()
        try await engine.write(Data("1".utf8), key: CacheKey("a"))
        let server = try await TestServer(["notes": Unreachable(base: engine)])
        let outcome = try await tool.run(["verify", "\(server.url)#notes"])
        #expect(outcome.status == 1 && outcome.errors.contains("Verify it again"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("backup") && outcome.text.contains("Not all items"), "\(outcome.text)")
        await server.stop()
    }

    @Test("A copy whose source or destination is killed says how far it came, and goes on", arguments: [true, false])
    func copy(isSourceKilled: Bool) async throws {
        let items = (0..<1_000).map { (CacheKey("n\($0)"), Data("\($0)".utf8)) }
        let database = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: tool.path("a.db")))
        let stored = try database.collection(named: "notes")
        let memory = MemoryStorageEngine()
        let (source, destination): (any StorageEngine, any StorageEngine) =
            isSourceKilled ? (stored, memory) : (memory, stored)
        try await source.write(items)
        _ = try await destination.fetchCount()

        let victim = try await tool.serve([tool.path("a.db"), "--without-tokens"])
        let port = try #require(URL(string: victim.address)?.port)
        let access = KillingAccess(victim) { try await destination.fetchCount() > 0 }
        let survivor = try await TestServer(access: access, ["notes": memory])
        let addresses = ["\(survivor.url)#notes", victim.address + "#notes"]
        let arguments = ["copy"] + (isSourceKilled ? addresses.reversed() : addresses)
        let cut = try await tool.run(arguments)
        #expect(cut.status == 1 && cut.output.isEmpty)
        #expect(cut.errors.contains("unreachable"), "\(cut.errors)")
        let count = try await destination.fetchCount()
        #expect(count > 0 && count < 1_000)
        #expect(cut.errors.contains("of 1000 items are done. Run the same command again to continue."), "\(cut.errors)")

        let again = try await tool.serve([tool.path("a.db"), "--without-tokens"], port: port)
        let rest = try await tool.run(arguments)
        #expect(rest.status == 0 && rest.text == "copied \(1_000 - count), already there \(count)\n")
        #expect(
            try await destination.fetchAll().map { [$0.key.rawValue, String(decoding: $0.data, as: UTF8.self)] }
                == items.map { [$0.0.rawValue, String(decoding: $0.1, as: UTF8.self)] })
        #expect(try await again.stop() == 0)
        await survivor.stop()
    }

    @Test("Watching prints each change of other programs, until Ctrl-C or SIGTERM, and outlives the server")
    func watch() async throws {
        let database = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: tool.path("a.db")))
        let notes = try database.collection(named: "notes")
        try await notes.write(Data("0".utf8), key: CacheKey("before"))
        for signal in [SIGINT, SIGTERM, SIGKILL] {
            var server = try await tool.serve([tool.path("a.db"), "--without-tokens"])
            let port = try #require(URL(string: server.address)?.port)
            let process = try tool.process(["watch", server.address + "#notes", "--json"])
            let (output, errors) = (Pipe(), Pipe())
            (process.standardOutput, process.standardError) = (output, errors)
            try process.start()
            let lines = Self.lines(of: output.fileHandleForReading)
            var reader = lines.makeAsyncIterator()
            // It is unknown when it begins to watch, so changes are made until it reports one.
            let writing = Task {
                var number = 0
                while !Task.isCancelled {
                    try await notes.write(Data("1".utf8), key: CacheKey("\(signal)-\(number)"))
                    number += 1
                }
                return number
            }
            let first = try Change(#require(await reader.next()))
            writing.cancel()
            let count = try await writing.value
            let start = try #require(first.key.split(separator: "-").last.flatMap { Int($0) })
            for number in (start + 1)..<max(count, start + 1) {
                let change = try Change(#require(await reader.next()))
                #expect(change == Change(change: "inserted", key: "\(signal)-\(number)"))
            }
            try await notes.write(Data("2".utf8), key: CacheKey("before"))
            try await notes.remove(key: CacheKey("\(signal)-0"))
            #expect(try Change(#require(await reader.next())) == Change(change: "updated", key: "before"))
            #expect(try Change(#require(await reader.next())) == Change(change: "removed", key: "\(signal)-0"))
            var text = ""
            if signal == SIGKILL {
                _ = try await server.stop(SIGKILL)
                text = await withCheckedContinuation { continuation in
                    Thread.detachNewThread {
                        continuation.resume(
                            returning: String(decoding: nextBytes(of: errors.fileHandleForReading), as: UTF8.self))
                    }
                }
                try await notes.write(Data("3".utf8), key: CacheKey("before"))
                server = try await tool.serve([tool.path("a.db"), "--without-tokens"], port: port)
                #expect(try Change(#require(await reader.next())) == Change(change: "updated", key: "before"))
            }
            process.send(signal == SIGKILL ? SIGTERM : signal)
            #expect(await reader.next() == nil)
            text += await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    let text = errors.fileHandleForReading.readDataToEndOfFile()
                    process.waitUntilExit()
                    continuation.resume(returning: String(decoding: text, as: UTF8.self))
                }
            }
            #expect(process.terminationStatus == 0)
            #expect(text.contains("Retrying…") == (signal == SIGKILL), "\(text)")
            #expect(text.contains("is reached again.") == (signal == SIGKILL), "\(text)")
            #expect(try await server.stop() == 0)
        }
    }

    @Test("Synchronizing ends when its lines have no reader any more, or on SIGTERM", arguments: [true, false])
    func following(isAbandoned: Bool) async throws {
        let first = try await tool.run(["put", "a.db#notes", "0"], input: Data("0".utf8))
        #expect(first.status == 0, "\(first.errors)")
        let server = try await tool.serve([tool.path("a.db"), "--without-tokens"])
        let written = try await tool.run(["put", "b.db#notes", "1"], input: Data("1".utf8))
        #expect(written.status == 0, "\(written.errors)")
        #expect(try await tool.run(["sync", "b.db#notes", server.address]).text == "sent 1, received 1\n")
        #expect(try await tool.run(["put", "b.db#notes", "2"], input: Data("2".utf8)).status == 0)
        let process = try tool.process(["sync", "b.db#notes", server.address, "--follow"])
        let output = Pipe()
        process.standardOutput = output
        try process.start()
        let line = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: nextBytes(of: output.fileHandleForReading))
            }
        }
        #expect(String(decoding: line, as: UTF8.self).contains("2"))
        if isAbandoned { try output.fileHandleForReading.close() } else { process.send(SIGTERM) }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                process.waitUntilExit()
                continuation.resume()
            }
        }
        #expect(process.terminationStatus == (isAbandoned ? 141 : 0))
        #expect(try await server.stop() == 0)
    }

    private struct Change: Decodable, Equatable {
        var change: String
        var key: String

        init(change: String, key: String) { (self.change, self.key) = (change, key) }

        init(_ line: String) throws { self = try JSONDecoder().decode(Change.self, from: Data(line.utf8)) }
    }

    /// The lines of a pipe, read on a thread of their own.
    private static func lines(of file: FileHandle) -> AsyncStream<String> {
        let (lines, line) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            var rest = ""
            while case let bytes = nextBytes(of: file), !bytes.isEmpty {
                rest += String(decoding: bytes, as: UTF8.self)
                let parts = rest.split(separator: "\n", omittingEmptySubsequences: false)
                for part in parts.dropLast() { line.yield(String(part)) }
                rest = String(parts.last ?? "")
            }
            line.finish()
        }
        return lines
    }
}

extension Process {
    fileprivate func send(_ signal: Int32) { kill(processIdentifier, signal) }
}
