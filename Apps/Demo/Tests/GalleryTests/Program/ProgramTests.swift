import AsyncHTTPClient
import Browsing
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// The program as users start it.
struct ProgramTests {

    @Test(arguments: [SIGINT, SIGTERM])
    func `The program prints its address, and exits with status 0 after a signal`(_ signal: Int32) async throws {
        let folder = try Folder()
        let program = try await DemoProgram(in: folder)
        #expect(program.announcement.contains("The gallery is at http://127.0.0.1:"))
        #expect(try await program.stop(signal) == 0)
        #expect(program.logged == "")
    }

    @Test func `If its port is taken, the program uses the next one and says so`() async throws {
        let (one, other) = (try Folder(), try Folder())
        let first = try await DemoProgram(in: one)
        let port = try #require(Int(first.address.split(separator: ":")[2]))
        let second = try await DemoProgram(in: other, port: port)
        #expect(second.address != first.address)
        #expect(second.announcement.contains("Port \(port) is taken"))
        #expect(try await first.stop() == 0)
        #expect(try await second.stop() == 0)
    }

    @Test func `A second gallery on the same folder does not start`() async throws {
        let folder = try Folder()
        let first = try await DemoProgram(in: folder)
        let failure = await #expect(throws: ServerProcess.Failure.self) { try await DemoProgram(in: folder) }
        #expect(failure?.description.contains("Another gallery is using") == true)
        #expect(try await first.stop() == 0)
    }

    @Test func `The gallery fetches pictures without the proxy of its environment`() async throws {
        let folder = try Folder()
        // No proxy listens there.
        let proxy = "http://127.0.0.1:1"
        let program = try await DemoProgram(in: folder, environment: ["http_proxy": proxy, "all_proxy": proxy])
        var request = HTTPClientRequest(url: program.address + "/pictures/next")
        request.method = .POST
        request.headers.add(name: "Origin", value: program.address)
        request.headers.add(name: "Prefer", value: "return=minimal")
        #expect(try await http.execute(request, timeout: .seconds(180)).status == .noContent)
        let page = try await http.execute(HTTPClientRequest(url: program.address + "/"), timeout: .seconds(180))
        #expect(String(buffer: try await page.body.collect(upTo: 1_000_000)).contains("<img src=\"/images/"))
        #expect(try await program.stop() == 0)
    }

    @Test(arguments: [("gallery-demo", false), ("gallery-sync-demo", true)])
    func `Only the program that synchronizes is built with the server`(_ name: String, _ hasServer: Bool) throws {
        let program = try Data(contentsOf: DemoProgram.executable(name), options: .alwaysMapped)
        for module in ["BodegaServer", "BodegaRemote", "NIOSSL"] {
            // As in the names of symbols.
            let symbol = Data("\(module.count)\(module)".utf8)
            #expect((program.range(of: symbol) != nil) == hasServer, "\(module)")
        }
    }

    @Test(
        arguments: [
            (["gallery-demo", "--help"], 0, "The port to listen on"),
            (["gallery-demo", "--port", "70000"], 64, "from 0 to 65535"),
            (["gallery-demo", "--port", "x"], 64, "--port"),
            (["gallery-demo", "--data", ""], 64, "must have a name"),
            (["gallery-demo", "--wat"], 64, "--wat"),
            (["gallery-demo", "more"], 64, "more"),
            (["gallery-sync-demo", "--help"], 0, "a laptop and a phone"),
            (["gallery-sync-demo", "--port", "65535"], 64, "from 0 to 65534"),
            (["gallery-sync-demo", "--data", ""], 64, "must have a name"),
        ] as [([String], Int32, String)])
    func `Options are explained and checked`(_ command: [String], _ status: Int32, _ text: String) async throws {
        let process = Process()
        process.executableURL = try DemoProgram.executable(command[0])
        process.arguments = Array(command.dropFirst())
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.start()
        // On a thread that may block, because other tests need the cooperative pool.
        let said = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let bytes = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
        #expect(process.terminationStatus == status)
        #expect(said.contains(text))
    }
}
