#if CommandLineTool
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaCommands

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite("On SIGINT and SIGTERM")
struct SignalTests {

    // MARK: watch

    @Test("watch ends even if its work waits forever or spins", arguments: [false, true])
    func endlessWork(isSpinning: Bool) async throws {
        let interruption = Interruption()
        let isOver = Locked(false)
        let hasBegun = Locked(false)
        async let run: Void = interruption.run(grace: 0) {
            hasBegun.withLock { $0 = true }
            if isSpinning {
                while !isOver.withLock({ $0 }) {}
            } else {
                await Interruption().wait(seconds: 1e6)
            }
        }
        try await waitUntil("the work had begun") { hasBegun.withLock { $0 } }
        interruption.interrupt(.interrupted)
        try await run
        isOver.withLock { $0 = true }
    }

    @Test("work that ends by itself returns its error, and work that is interrupted before it begins ends")
    func endingWork() async throws {
        let interruption = Interruption()
        await #expect(throws: BrokenPipe.self) { try await interruption.run(grace: 0) { throw BrokenPipe() } }
        try await interruption.run(grace: 0) {}
        interruption.interrupt(.terminated)
        try await interruption.run(grace: 0) { await Interruption().wait(seconds: 1e6) }
    }

    @Test("signals without changes are handled with a backoff")
    func pace() {
        var pace = WatchPace()
        let pauses = (0..<10).map { _ in pace.pause(afterFinding: 0) }
        #expect(pauses == pauses.sorted() && pauses[0] > 0 && pauses[9] == 0.25)
        #expect(pace.pause(afterFinding: 1) == 0)
    }

    #if Postgres
    @Test("watch ends while it connects to a server that does not answer", arguments: [SIGINT, SIGTERM])
    func silentServer(signal: Int32) async throws {
        try await withFolder { folder in
            var status: Int32 = 1
            // On a busy machine the connection may time out before the signal.
            for _ in 0..<5 where status != 0 {
                let server = try SilentServer()
                let tool = try ToolProcess(["watch", "postgres://u:p@127.0.0.1:\(server.port)/d"], in: folder)
                try await waitUntil("the program connected") { server.hasConnection() }
                tool.send(signal)
                status = try await tool.end()
                let errors = try tool.errorText
                #expect(errors == "" || errors.contains("did not accept the connection in time"))
            }
            #expect(status == 0)
        }
    }

    @Test("watch ends while the server is stopped, and after it has ended", arguments: [SIGINT, SIGTERM])
    func stoppedServer(signal: Int32) async throws {
        let server = try await PostgresServer.launch()
        let store = try await server.makeDatabase().url
        #expect(await bodega("put", store, "a", input: [1]).status == 0)
        try await withFolder { folder in
            for isGone in [false, true] {
                let tool = try ToolProcess(["watch", store, "--interval", "0.05"], in: folder)
                // It has shown a change, so it is watching.
                try await waitUntil("the program watched") {
                    _ = await bodega("put", store, "a", input: [2])
                    return try tool.outputText.contains("updated")
                }
                if isGone { try await server.kill() } else { try await server.pause() }
                tool.send(signal)
                #expect(try await tool.end() == 0)
                if !isGone { try await server.resume() }
            }
        }
        try await server.remove()
    }
    #endif

    // MARK: query

    @Test("the exit status of a creation of an index says whether there is one", arguments: [SIGINT, SIGTERM])
    func creatingIndex(signal: Int32) async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let lines = (0..<60_000).map { #"{"id":\#($0)}"# }
            _ = await bodega("import", store, "--key", "id", input: Array(lines.joined(separator: "\n").utf8))
            var status: Int32 = 0
            // On a busy machine the index may be complete before the signal.
            for _ in 0..<20 where status == 0 {
                _ = await bodega("query", store, "--drop-index", "id")
                let tool = try ToolProcess(["query", store, "--index", "id"], in: folder)
                try await waitUntil("the program began") { try tool.errorText.contains("creating an index") }
                tool.send(signal)
                status = try await tool.end()
                #expect(await bodega("query", store, "--indexes").text == (status == 0 ? "id\tvalue\n" : ""))
                let message = "bodega: Interrupted. The index over id was not created.\n"
                #expect(try tool.errorText.contains(message) == (status != 0))
            }
            #expect(status == 128 + signal)
            #expect(await bodega("query", store, "--where", "@.id >= 59999", "--count").text == "1\n")
            #expect(await bodega("query", store, "--index", "id").status == 0)
            #expect(await bodega("query", store, "--where", "@.id >= 59999", "--count").text == "1\n")
        }
    }

    // MARK: import

    @Test("import stores the lines of a pipe while it is open, and reports them", arguments: storeAddresses)
    func importing(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let store = address(folder)
            let input = Pipe.separate()
            let tool = try ToolProcess(
                ["import", store, "--key", "id", "--batch-size", "2"], input: input, in: folder)
            // Some fill the pipe several times, the last one is incomplete, and there is no end.
            let padding = String(repeating: "x", count: 100_000)
            let lines = (0..<25).map { #"{"id":\#($0),"x":"\#(padding)"}"# + "\n" }
            let bytes = Data((lines.joined() + #"{"id":25,"#).utf8)
            let writing = Task { try input.fileHandleForWriting.write(contentsOf: bytes) }
            try await writing.value
            try await waitUntil("all whole lines were imported") { await bodega("count", store).text == "25\n" }
            tool.send(SIGINT)
            #expect(try await tool.end() == 130)
            #expect(try tool.errorText == "bodega: Interrupted. 25 items were imported, all that were read.\n")
            #expect(await bodega("verify", store).status == 0)
            let again = await bodega("import", store, "--key", "id", input: Array(lines.joined().utf8))
            #expect(again.text == "imported 25, 25 of them in place of others\n")
        }
    }

    @Test("import leaves no partial batch in a folder", arguments: [SIGINT, SIGTERM])
    func importingFolder(signal: Int32) async throws {
        try await withFolder { folder in
            let store = storeAddresses[1](folder)
            let input = folder.appendingPathComponent("input.ndjson")
            let lines = (0..<9_000).map { #"{"id":\#($0)}"# }
            try Data(lines.joined(separator: "\n").utf8).write(to: input)
            // A reader of several items holds this lock, and a committed batch waits for it.
            let place = folder.appendingPathComponent("store")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
            let reader = open(place.path, O_RDONLY)
            try #require(flock(reader, LOCK_SH) == 0)
            let batch = ["import", store, input.path, "--key", "id", "--batch-size", "3000"]
            let tool = try ToolProcess(batch, in: folder)
            try await waitUntil("a batch was begun") {
                FileManager.default.fileExists(atPath: place.appendingPathComponent(".emporium/commit").path)
            }
            tool.send(signal)
            close(reader)
            #expect(try await tool.end() == (signal == SIGINT ? 130 : 143))
            let count = try #require(Int(await bodega("count", store).text.dropLast()))
            #expect(count > 0 && count.isMultiple(of: 3000))
            #expect(try tool.errorText.hasPrefix("bodega: Interrupted. \(count) items were imported."))
            #expect(await bodega("verify", store).text == "no problem found, \(count) items read\n")
        }
    }
}

#if Postgres
/// A server that accepts connections and sends nothing.
private final class SilentServer: Sendable {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { [descriptor] in
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 8) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        try #require(isListening)
    }

    /// Whether a client is waiting in the system's queue of connections.
    func hasConnection() -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    deinit { close(descriptor) }
}
#endif
#endif
