import AsyncHTTPClient
import Browsing
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// The program with two devices, as users start it.
@Suite(.serialized)
struct SyncProgramTests {

    /// A visitor of one of the galleries, who uses forms.
    struct Device {
        let address: String

        func page(_ path: String = "/") async throws -> String {
            let response = try await http.execute(HTTPClientRequest(url: address + path), timeout: .seconds(180))
            return String(buffer: try await response.body.collect(upTo: 1_000_000))
        }

        func post(_ path: String, _ form: String = "") async throws {
            var request = HTTPClientRequest(url: address + path)
            request.method = .POST
            request.headers.add(name: "Origin", value: address)
            request.headers.add(name: "Prefer", value: "return=minimal")
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: form))
            #expect(try await http.execute(request, timeout: .seconds(180)).status == .noContent, "\(path)")
        }

        /// Adds the picture on the easel, once there is one, to the favourites.
        func addFavourite() async throws -> String {
            let id = try await wait { $0.firstMatch(of: #/action="/favourites/([a-z]+-[0-9a-f]{16})"/#)?.1 }
            try await post("/favourites/\(id)")
            return String(id)
        }

        /// Loads the page until it has something.
        @discardableResult
        func wait<Value>(_ find: (String) -> Value?) async throws -> Value {
            let deadline = ContinuousClock.now + .seconds(180)
            while true {
                let page = try await page()
                if let found = find(page) { return found }
                if ContinuousClock.now > deadline { throw ServerProcess.Failure(description: "Timed out: \(page)") }
            }
        }

        func wait(for text: String) async throws { try await wait { $0.contains(text) ? true : nil } }
    }

    private func devices(_ program: DemoProgram) throws -> (laptop: Device, phone: Device) {
        let addresses = program.announcement.matches(of: #/http://127.0.0.1:[0-9]+/#).map { String($0.0) }
        try #require(addresses.count == 2)
        return (Device(address: addresses[0]), Device(address: addresses[1]))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `The program prints both addresses, and exits with status 0 after a signal`(_ signal: Int32) async throws {
        let folder = try Folder()
        // No proxy listens there.
        let environment = ["http_proxy": "http://127.0.0.1:1", "no_proxy": ""]
        let program = try await DemoProgram(in: folder, sync: true, environment: environment)
        #expect(program.announcement.contains("The gallery of the laptop is at http://127.0.0.1:"))
        #expect(program.announcement.contains("The gallery of the phone is at http://127.0.0.1:"))
        let (laptop, phone) = try devices(program)
        let id = try await laptop.addFavourite()
        try await phone.wait(for: "data-id=\"\(id)\"")
        #expect(try await program.stop(signal) == 0)
        #expect(program.logged == "")
    }

    @Test func `A kill loses nothing, neither what is synchronized nor what waits`() async throws {
        let folder = try Folder()
        let program = try await DemoProgram(in: folder, sync: true)
        var (laptop, phone) = try devices(program)
        let shared = try await laptop.addFavourite()
        try await phone.wait(for: "data-id=\"\(shared)\"")
        try await laptop.post("/sync/off")
        try await laptop.post("/albums", "name=Waiting&favourite=\(shared)")
        // Sent or not when the program is killed.
        let last = try await phone.addFavourite()
        #expect(try await program.stop(SIGKILL) == -SIGKILL)

        let again = try await DemoProgram(in: folder, sync: true)
        (laptop, phone) = try devices(again)
        try await laptop.wait(for: "Switched off · 1 change waits")
        try await phone.wait(for: "Everything is up to date")
        let pages = (try await laptop.page(), try await phone.page())
        #expect(pages.0.contains("data-id=\"\(shared)\"") && pages.0.contains(">Waiting<"))
        #expect(pages.1.contains("data-id=\"\(last)\"") && !pages.1.contains(">Waiting<"))
        try await laptop.post("/sync/on")
        try await phone.wait(for: ">Waiting<")
        try await laptop.wait(for: "data-id=\"\(last)\"")
        for device in [laptop, phone] {
            let page = try await device.page()
            for image in page.matches(of: #/src="(/images/[0-9a-f]{32})"/#).map({ String($0.1) }) {
                #expect(try await device.page(image).contains("width=\"1200\""), "\(image)")
            }
        }
        #expect(try await again.stop() == 0)
    }

    @Test func `While the server is off, both devices go on, and they catch up when it is on`() async throws {
        let folder = try Folder()
        let program = try await DemoProgram(in: folder, sync: true)
        let (laptop, phone) = try devices(program)
        try await phone.post("/sync/server/off")
        try await laptop.wait(for: "Offline")
        try await phone.wait(for: "Offline")
        try await laptop.post("/albums", "name=From+the+laptop")
        try await phone.post("/albums", "name=From+the+phone")
        try await laptop.wait(for: "Offline · 1 change waits")
        try await phone.wait(for: "action=\"/sync/server/on\"")
        #expect(try await !phone.page().contains("From the laptop"))
        try await laptop.post("/sync/server/on")
        try await laptop.wait(for: "From the phone")
        try await phone.wait(for: "From the laptop")
        try await laptop.wait(for: "Everything is up to date")
        try await phone.wait(for: "Everything is up to date")
        #expect(try await program.stop() == 0)
    }

    @Test func `A folder that another program uses is refused, and the port must leave one for the phone`() async throws
    {
        let folder = try Folder()
        let first = try await DemoProgram(in: folder, sync: true)
        let failure = await #expect(throws: ServerProcess.Failure.self) {
            try await DemoProgram(in: folder, sync: true)
        }
        #expect(failure?.description.contains("Another gallery is using") == true)
        #expect(try await first.stop() == 0)
        let wrong = await #expect(throws: ServerProcess.Failure.self) {
            try await DemoProgram(in: folder, sync: true, port: 65_535)
        }
        #expect(wrong?.description.contains("from 0 to 65534") == true)
    }
}
