import AsyncHTTPClient
import Bodega
import Boutique
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@testable import Gallery

/// What is left when the program is killed in the middle of its work.
@Suite(.serialized)
struct KillTests {

    @Test func `Whenever the program is killed, what it has confirmed is there, and every favourite has its bytes`()
        async throws
    {
        let folder = try Folder()
        var random = SystemRandomNumberGenerator()
        for round in 0..<6 {
            let program = try await DemoProgram(in: folder)
            let visitor = Visitor(address: program.address)
            // Killed after so many confirmations, while the next action is under way.
            let confirmations = Int.random(in: 1...25, using: &random)
            try await visitor.work(untilConfirmed: confirmations) {
                _ = try await program.stop(SIGKILL)
            }

            let kept = try await contents(of: folder)
            #expect(kept.favourites.isSuperset(of: visitor.expected.subtracting(visitor.uncertain)), "round \(round)")
            #expect(kept.favourites.isSubset(of: visitor.expected.union(visitor.uncertain)), "round \(round)")
            #expect(kept.missingImages == [], "round \(round)")

            // After the next start there is nothing that nobody owns, and every picture can be seen.
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

    /// What is in the files, read without the program.
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

/// Somebody who adds and removes favourites as fast as the program confirms it, and remembers what it has confirmed.
private final class Visitor {
    private let address: String
    /// What must be there, as far as it was confirmed.
    private(set) var expected: Set<String> = []
    /// What was asked for last and not confirmed.
    private(set) var uncertain: Set<String> = []
    private var confirmed = 0

    init(address: String) {
        self.address = address
    }

    /// Works until so much was confirmed, and goes on while something happens, until the program does not answer.
    func work(untilConfirmed count: Int, then happening: @escaping @Sendable () async throws -> Void) async throws {
        let known = try await page()
        expected = Set(known.matches(of: #/data-id="([a-z0-9-]+)"/#).map { String($0.1) })
        var happens: Task<Void, any Error>?
        while true {
            do {
                try await act()
            } catch {
                // Nobody answers any more.
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

    /// What a path is answered with.
    func status(_ path: String) async throws -> HTTPResponseStatus {
        try await http.execute(HTTPClientRequest(url: address + path), timeout: .seconds(180)).status
    }
}
