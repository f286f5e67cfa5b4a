import AsyncHTTPClient
import Bodega
import Boutique
import Browsing
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@testable import Gallery

/// Albums after the program is killed while it removes some.
@Suite(.serialized)
struct AlbumKillTests {

    @Test func `After a kill, each album is stored with all of its favourites, or both are gone`() async throws {
        for round in 0..<3 {
            let folder = try Folder()
            try await fill(folder)
            let program = try await DemoProgram(in: folder)
            // Killed after this number of confirmations, while the program removes further albums.
            let confirmations = Int.random(in: 0...30)
            let confirmed = try await removeAlbums(program, killAfter: confirmations)

            let (albums, favourites) = try await contents(of: folder)
            for number in 0..<Self.count {
                let isThere = albums["album-\(number)"] != nil
                #expect(!isThere || !confirmed.contains(number), "round \(round)")
                let own = favourites.filter { $0.hasPrefix("own-\(number)-") }.count
                #expect(own == (isThere ? Self.size : 0), "album \(number) in round \(round)")
            }
            #expect(albums["other"]?.count == Self.count, "round \(round)")
            #expect(favourites.filter { $0.hasPrefix("shared-") }.count == Self.count, "round \(round)")
            #expect(albums.count < Self.count + 1 || confirmations == 0)

            // The next start shows the same.
            let again = try await DemoProgram(in: folder)
            let response = try await http.execute(
                HTTPClientRequest(url: again.address + "/"), timeout: .seconds(180))
            let page = String(buffer: try await response.body.collect(upTo: 1_000_000))
            #expect(page.matches(of: #/data-album="/#).count == albums.count)
            #expect(page.matches(of: #/data-id="/#).count == favourites.count)
            #expect(try await again.stop() == 0)
        }
    }

    /// The number of albums that are removed.
    private static let count = 40
    /// The number of favourites that are only in one of them. Another one is in an album that stays.
    private static let size = 8

    /// Fills a folder without the program, as an earlier program could have.
    private func fill(_ folder: Folder) async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory("data"), databaseFilename: "gallery")
        let favourites = try await Store<Favourite>(storage: try file.collection(named: "favourites"))
        let albums = try await Store<Album>(storage: try file.collection(named: "albums"))
        func favourite(_ id: String) -> Favourite {
            let picture = Picture(
                id: id, title: id, style: "s", algorithm: "a", palette: "p", colors: ["#808080"], width: 1, height: 1,
                seed: "1", isForMembers: false)
            return Favourite(picture: picture, image: ImageKey(), addedAt: .now)
        }
        var all: [Album] = [Album(id: "other", name: "Other", favouriteIDs: (0..<Self.count).map { "shared-\($0)" })]
        for number in 0..<Self.count {
            let own = (0..<Self.size).map { "own-\(number)-\($0)" }
            all.append(Album(id: "album-\(number)", name: "\(number)", favouriteIDs: own + ["shared-\(number)"]))
        }
        try await favourites.insert(Set(all.flatMap(\.favouriteIDs)).map(favourite))
        try await albums.insert(all)
        try await file.close()
    }

    /// Removes one album after the other, until the program is killed and does not respond.
    ///
    /// - Returns: The albums whose removal was confirmed.
    private func removeAlbums(_ program: DemoProgram, killAfter count: Int) async throws -> Set<Int> {
        var killing: Task<Int32, any Error>?
        var confirmed: Set<Int> = []
        for number in 0..<Self.count {
            if confirmed.count == count { killing = Task { try await program.stop(SIGKILL) } }
            var request = HTTPClientRequest(url: "\(program.address)/albums/album-\(number)/remove")
            request.method = .POST
            request.headers.add(name: "Origin", value: program.address)
            request.headers.add(name: "Prefer", value: "return=minimal")
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(Data("favourites=remove".utf8))
            do {
                let response = try await http.execute(request, timeout: .seconds(180))
                #expect(response.status == .noContent)
                confirmed.insert(number)
            } catch {
                // The program does not respond.
                if killing == nil { throw error }
                break
            }
        }
        #expect(try await killing?.value == -SIGKILL)
        return confirmed
    }

    /// The contents of the files, read without the program: the favourites of the albums, and the favourites.
    private func contents(of folder: Folder) async throws -> ([String: [String]], [String]) {
        let file = try SQLiteStorageEngine(opening: folder.directory("data"), databaseFilename: "gallery")
        let albums = try await Store<Album>(storage: try file.collection(named: "albums")).items
        let favourites = try await Store<Favourite>(storage: try file.collection(named: "favourites")).items
        try await file.close()
        return (Dictionary(uniqueKeysWithValues: albums.map { ($0.id, $0.favouriteIDs) }), favourites.map(\.id))
    }
}
