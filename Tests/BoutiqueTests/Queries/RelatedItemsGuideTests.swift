// The snippets of the guide about related items. A test compares them with the guide, line by line.
import Boutique
import Foundation
import Testing

struct Artist: Codable, Sendable, Identifiable {
    var id: UUID
    var name: String
}

struct Album: Codable, Sendable, Identifiable {
    var id: UUID
    var title: String
    var artistID: Artist.ID?
}

extension Artist: Queryable {
    static let indexes = [Index("name", \Artist.name)]
}

extension Album: Queryable {
    static let indexes = [Index("title", \Album.title), Index("artistID", \Album.artistID)]
}

/// Two collections of one database.
struct Discography {
    let albums: ObjectStorage<Album>
    let artists: ObjectStorage<Artist>

    init(in database: SQLiteStorageEngine) throws {
        albums = ObjectStorage(storage: try database.collection(named: "albums"))
        artists = ObjectStorage(storage: try database.collection(named: "artists"))
    }

    func printFirstPage() async throws {
        let query = Query<Album>(sortedBy: SortDescriptor(\.title)).including(\.artistID, from: artists)
        let page = try await albums.fetch(query, limit: 50)
        for row in page.rows {
            print(row.object.title, row.related?.name ?? "no artist")
        }
    }

    func printArtists() async throws {
        let query = Query<Artist>(sortedBy: SortDescriptor(\.name)).including(\Album.artistID, of: albums)
        for row in try await artists.fetch(query, limit: 50).rows {
            print(row.object.name, row.related.map(\.title))
        }
    }

    func albums(ofArtistsNamed name: String) -> Query<Album> {
        let named = Query<Artist>(where: #Predicate { $0.name == name })
        return Query(sortedBy: SortDescriptor(\.title)).filter(\.artistID, in: artists, matching: named)
    }
}

@MainActor
final class AlbumList {
    let window: LiveQuery<RelatedRow<Album, Artist?>>

    init(_ discography: Discography) {
        let query = Query<Album>(sortedBy: SortDescriptor(\.title)).including(\.artistID, from: discography.artists)
        window = LiveQuery(query, in: discography.albums, limit: 50)
    }

    var lines: [String] {
        window.items.map { "\($0.object.title), \($0.related?.name ?? "no artist")" }
    }
}

@MainActor
func albums(of artist: Artist, in store: Store<Album>) -> [Album] {
    store.items(where: \.artistID, equals: artist.id)
}

@MainActor
@Test func `The discography of the guide shows albums with their artists`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("emporium-\(UUID().uuidString)")
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
    let database = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
    let discography = try Discography(in: database)
    let store = try await Store<Album>(storage: database.collection(named: "albums"))
    let artist = Artist(id: UUID(), name: "Monk")
    try await discography.artists.store(artist, forKey: CacheKey(artist.id.uuidString))
    for title in ["B", "A"] { try await store.insert(Album(id: UUID(), title: title, artistID: artist.id)) }
    try await store.insert(Album(id: UUID(), title: "C", artistID: UUID()))
    try await discography.printFirstPage()
    try await discography.printArtists()
    let byMonk = discography.albums(ofArtistsNamed: "Monk")
    #expect(try await discography.albums.fetch(byMonk, limit: 50).objects.map(\.title) == ["A", "B"])
    #expect(try await discography.albums.count(byMonk) == 2)
    #expect(albums(of: artist, in: store).map(\.title) == ["B", "A"])
    let window = AlbumList(discography)
    try await window.window.itemsHaveLoaded()
    #expect(window.lines == ["A, Monk", "B, Monk", "C, no artist"])
    try await discography.artists.store(
        Artist(id: artist.id, name: "Thelonious Monk"), forKey: CacheKey(artist.id.uuidString))
    #expect(try await eventually { window.lines == ["A, Thelonious Monk", "B, Thelonious Monk", "C, no artist"] })
}
