import AsyncHTTPClient
import Bodega
import Boutique
import Browsing
import Foundation
import GRDBSQLite
import NIOCore
import NIOHTTP1
import Testing

@testable import Gallery

/// Albums of the program, observed and interrupted by another process.
struct AlbumProgramTests {

    @MainActor
    @Test func `Another process sees the removal of an album and its favourites in one step`() async throws {
        let folder = try Folder()
        _ = try await fill(folder)
        let program = try await DemoProgram(in: folder)
        let file = try SQLiteStorageEngine(opening: folder.directory("data"), databaseFilename: "gallery")
        let favourites = try await Store<Favourite>(storage: try file.collection(named: "favourites"))
        let albums = try await Store<Album>(storage: try file.collection(named: "albums"))
        var states: Set<[Int]> = []
        let note = { _ = states.insert([albums.items.count, favourites.items.count]) }
        let watches = [favourites.$items.sink { _ in note() }, albums.$items.sink { _ in note() }]
        #expect(states == [[2, 10]])
        #expect(try await removeAlbum(at: program.address) == .noContent)
        while albums.items.count > 1 || favourites.items.count > 2 { await Task.yield() }
        #expect(states == [[2, 10], [1, 2]])
        withExtendedLifetime(watches) {}
        try await file.close()
        #expect(try await program.stop() == 0)
    }

    @Test(arguments: [0, 4, 7])
    func `After a kill in the middle of removing an album with its favourites, nothing is removed`(
        _ place: Int
    ) async throws {
        let folder = try Folder()
        let before = try await fill(folder)
        let database = try Database(folder)
        try database.makeRemovalEndless(of: "own-\(place)")

        let program = try await DemoProgram(in: folder)
        let address = program.address
        let removal = Task { try await removeAlbum(at: address) }
        // The transaction does not end, and no page shows a part of it.
        var pages = 0
        while pages < 30 {
            #expect(try await numbers(at: address) == [2, 10])
            pages = try database.isBusy() ? pages + 1 : 0
        }
        #expect(try await program.stop(SIGKILL) == -SIGKILL)
        await #expect(throws: (any Error).self) { try await removal.value }
        #expect(try await contents(of: folder) == before)

        // The next program shows all of it, and can remove it.
        try database.execute("DROP TRIGGER endless")
        let again = try await DemoProgram(in: folder)
        #expect(try await numbers(at: again.address) == [2, 10])
        #expect(try await removeAlbum(at: again.address) == .noContent)
        #expect(try await again.stop() == 0)
        #expect(try await contents(of: folder) == ["other: shared, alone", "alone", "shared"])
    }

    /// Fills a folder without the program.
    ///
    /// - Returns: The contents.
    private func fill(_ folder: Folder) async throws -> Set<String> {
        let own = (0..<8).map { "own-\($0)" }
        let albums = [
            Album(id: "this", name: "This", favouriteIDs: own + ["shared"]),
            Album(id: "other", name: "Other", favouriteIDs: ["shared", "alone"]),
        ]
        let favourites = (own + ["shared", "alone"]).map { id in
            let picture = Picture(
                id: id, title: id, style: "s", algorithm: "a", palette: "p", colors: ["#808080"], width: 1, height: 1,
                seed: "1", isForMembers: false)
            return Favourite(picture: picture, image: ImageKey(), addedAt: .now)
        }
        let file = try SQLiteStorageEngine(opening: folder.directory("data"), databaseFilename: "gallery")
        try await Store<Favourite>(storage: try file.collection(named: "favourites")).insert(favourites)
        try await Store<Album>(storage: try file.collection(named: "albums")).insert(albums)
        try await file.close()
        return try await contents(of: folder)
    }

    /// The stored albums and favourites, as texts.
    private func contents(of folder: Folder) async throws -> Set<String> {
        let file = try SQLiteStorageEngine(opening: folder.directory("data"), databaseFilename: "gallery")
        let albums = try await Store<Album>(storage: try file.collection(named: "albums")).items
        let favourites = try await Store<Favourite>(storage: try file.collection(named: "favourites")).items
        try await file.close()
        return Set(albums.map { "\($0.id): \($0.favouriteIDs.joined(separator: ", "))" } + favourites.map(\.id))
    }

    /// The numbers of albums and of favourites that the home page shows.
    private func numbers(at address: String) async throws -> [Int] {
        let response = try await http.execute(HTTPClientRequest(url: address + "/"), timeout: .seconds(180))
        let page = String(buffer: try await response.body.collect(upTo: 1_000_000))
        return [page.matches(of: #/data-album="/#).count, page.matches(of: #/data-id="/#).count]
    }

    /// Removes the album with its favourites, as its page does.
    private func removeAlbum(at address: String) async throws -> HTTPResponseStatus {
        var request = HTTPClientRequest(url: address + "/albums/this/remove")
        request.method = .POST
        request.headers.add(name: "Origin", value: address)
        request.headers.add(name: "Prefer", value: "return=minimal")
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(ByteBuffer(string: "favourites=remove"))
        return try await http.execute(request, timeout: .seconds(180)).status
    }
}

/// The gallery's file, opened with SQLite alone.
private final class Database: @unchecked Sendable {
    // @unchecked because the connection is not changed, and SQLite serializes its calls.
    private let connection: OpaquePointer

    struct Failure: Error {
        let code: Int32
    }

    init(_ folder: Folder) throws {
        var connection: OpaquePointer?
        let path = folder.directory("data").url.appendingPathComponent("gallery.sqlite3").path
        let code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, nil)
        guard code == SQLITE_OK, let connection else { throw Failure(code: code) }
        self.connection = connection
    }

    deinit { sqlite3_close(connection) }

    func execute(_ sql: String) throws {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        if code != SQLITE_OK { throw Failure(code: code) }
    }

    /// Makes the transaction that removes a favourite count forever when it gets there.
    func makeRemovalEndless(of id: Favourite.ID) throws {
        // The collections are numbered in the order in which they were created, and this test creates this one first.
        try execute(
            """
            CREATE TRIGGER endless BEFORE DELETE ON emporium_collection_1 WHEN OLD.key = '\(id)' BEGIN
            SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n);
            END
            """)
    }

    /// Whether another connection is in a transaction that writes.
    func isBusy() throws -> Bool {
        do {
            try execute("BEGIN IMMEDIATE; ROLLBACK")
            return false
        } catch let failure as Failure where failure.code == SQLITE_BUSY {
            return true
        }
    }
}
