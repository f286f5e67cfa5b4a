import AsyncHTTPClient
import Bodega
import Boutique
import Browsing
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@testable import Gallery

/// The state after the program is killed in the middle of its work.
@Suite(.serialized)
struct KillTests {

    @Test func `After a kill at any time, all confirmed changes are stored and every favourite has its bytes`()
        async throws
    {
        let folder = try Folder()
        var random = SystemRandomNumberGenerator()
        for round in 0..<6 {
            let program = try await DemoProgram(in: folder)
            let visitor = Visitor(address: program.address)
            // Killed after this number of confirmations, during the next action.
            let confirmations = Int.random(in: 1...25, using: &random)
            try await visitor.work(untilConfirmed: confirmations) {
                _ = try await program.stop(SIGKILL)
            }

            let kept = try await contents(of: folder)
            #expect(kept.favourites.isSuperset(of: visitor.expected.subtracting(visitor.uncertain)), "round \(round)")
            #expect(kept.favourites.isSubset(of: visitor.expected.union(visitor.uncertain)), "round \(round)")
            #expect(kept.missingImages == [], "round \(round)")

            // After the next start no image is orphaned, and every picture can be loaded.
            let again = try await DemoProgram(in: folder)
            let page = try await Visitor(address: again.address).page()
            for image in page.matches(of: #/src="(/images/[0-9a-f]{32})"/#).map(\.1) {
                let status = try await Visitor(address: again.address).status(String(image))
                #expect(status == .ok)
            }
            #expect(try await again.stop() == 0)
            #expect(try await contents(of: folder).orphans == [], "round \(round)")
        }
    }

    private struct Contents {
        var favourites: Set<String>
        var missingImages: Set<String>
        var orphans: Set<String>
    }

    /// The contents of the files, read without the program.
    private func contents(of folder: Folder) async throws -> Contents {
        let file = try SQLiteStorageEngine(opening: folder.directory("data"), databaseFilename: "gallery")
        let store = try await Store<Favourite>(storage: try file.collection(named: "favourites"))
        let favourites = await store.items
        @AsyncStoredValue<Exhibit?>(key: "exhibit", default: nil, storage: try file.collection(named: "easel"))
        var exhibit: Exhibit?
        try await $exhibit.valueHasLoaded()
        let images = Set(try await file.collection(named: "images").fetchKeys().map(\.value))
        let owned = Set(favourites.map(\.image.text)).union([exhibit?.image.text].compactMap(\.self))
        try await file.close()
        return Contents(
            favourites: Set(favourites.map(\.id)), missingImages: owned.subtracting(images),
            orphans: images.subtracting(owned))
    }
}

/// A user who adds and removes favourites as fast as the program confirms it, and remembers the confirmed changes.
private final class Visitor {
    private let address: String
    /// The favourites that must be stored, according to the confirmations.
    private(set) var expected: Set<String> = []
    /// The last change, if it was not confirmed.
    private(set) var uncertain: Set<String> = []
    private var confirmed = 0

    init(address: String) {
        self.address = address
    }

    /// Makes changes until the given number is confirmed, then continues while a body runs, until the program does not
    /// respond.
    func work(untilConfirmed count: Int, then happening: @escaping @Sendable () async throws -> Void) async throws {
        let known = try await page()
        expected = Set(known.matches(of: #/data-id="([a-z0-9-]+)"/#).map { String($0.1) })
        var happens: Task<Void, any Error>?
        while true {
            do {
                try await act()
            } catch {
                // The program does not respond.
                if happens != nil { break }
                throw error
            }
            if confirmed >= count && happens == nil { happens = Task { try await happening() } }
        }
        try await happens?.value
    }

    private func act() async throws {
        let page = try await page()
        if let id = page.firstMatch(of: #/action="/favourites/([a-z]+-[0-9a-f]{16})"/#).map({ String($0.1) }),
            expected.count < 6
        {
            uncertain = [id]
            try await post("/favourites/\(id)")
            expected.insert(id)
        } else if let id = expected.randomElement(), expected.count >= 6 {
            uncertain = [id]
            try await post("/favourites/\(id)/remove")
            expected.remove(id)
        }
        uncertain = []
        try await post("/pictures/next")
    }

    private func post(_ path: String) async throws {
        var request = HTTPClientRequest(url: address + path)
        request.method = .POST
        request.headers.add(name: "Origin", value: address)
        request.headers.add(name: "Prefer", value: "return=minimal")
        let response = try await http.execute(request, timeout: .seconds(180))
        #expect(response.status == .noContent)
        confirmed += 1
    }

    /// The home page.
    func page() async throws -> String {
        let response = try await http.execute(HTTPClientRequest(url: address + "/"), timeout: .seconds(180))
        return String(buffer: try await response.body.collect(upTo: 1_000_000))
    }

    /// The response for a path.
    func status(_ path: String) async throws -> HTTPResponseStatus {
        try await http.execute(HTTPClientRequest(url: address + path), timeout: .seconds(180)).status
    }
}
