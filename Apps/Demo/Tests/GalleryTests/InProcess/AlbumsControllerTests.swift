import Bodega
import BodegaTesting
import Boutique
import Foundation
import Testing

@testable import Gallery

@MainActor
struct AlbumsControllerTests {
    let gallery = TestGallery()

    private var failure: StorageError { StorageError(.storageFull, "The volume is full.") }

    /// Adds favourites with one-letter identifiers, and an album of some of them for each text.
    ///
    /// - Returns: The identifiers of the albums.
    private func fill(_ controllers: GalleryControllers, _ ids: String, albums: String...) async throws -> [Album.ID] {
        for id in ids.map(String.init) {
            #expect(try await controllers.favourites.add(.stored(id, in: controllers.images)) == .added)
        }
        var albumIDs: [Album.ID] = []
        for contents in albums {
            let album = try #require(await controllers.albums.create(name: contents))
            for id in contents.map(String.init) { _ = try await controllers.albums.add(id, to: album.id) }
            albumIDs.append(album.id)
        }
        return albumIDs
    }

    /// The stored favourites, and the contents of the stored albums, as texts of one-letter identifiers.
    private func stored() async throws -> [String] {
        struct Stored: Decodable {
            struct Picture: Decodable { let id: String }
            let picture: Picture?
            let favouriteIDs: [String]?
        }
        func fetch(_ engine: FaultyMemory) async throws -> [Stored] {
            try await engine.base.fetchAllData().map { try JSONDecoder().decode(Stored.self, from: $0) }
        }
        let favourites = try await fetch(gallery.favourites).compactMap(\.picture?.id).sorted().joined()
        let albums = try await fetch(gallery.albums).compactMap { $0.favouriteIDs?.joined() }
        return [favourites] + albums.sorted()
    }

    /// What the controllers show, in the same form.
    private func shown(_ controllers: GalleryControllers) -> [String] {
        [controllers.favourites.favourites.map(\.id).sorted().joined()]
            + controllers.albums.albums.map { $0.favouriteIDs.joined() }.sorted()
    }

    @Test func `A favourite can be in several albums, and once in each`() async throws {
        let controllers = gallery.controllers()
        let albums = try await fill(controllers, "abc", albums: "ab", "b", "")
        _ = try await controllers.albums.add("b", to: albums[1])
        _ = try await controllers.albums.add("a", to: albums[1])
        #expect(try await stored() == ["abc", "", "ab", "ba"])
        let change = try await controllers.albums.remove("a", from: albums[0])
        #expect(change?.0.id == "a" && change?.1.favouriteIDs == ["b"])
        #expect(try await stored() == ["abc", "", "b", "ba"])
        #expect(try await controllers.albums.add("z", to: albums[0]) == nil)
        #expect(try await controllers.albums.add("a", to: "none") == nil)
        #expect(try await stored() == ["abc", "", "b", "ba"])
    }

    @Test func `An album can be created with its first favourite, up to a maximum number`() async throws {
        let controllers = gallery.controllers()
        _ = try await fill(controllers, "a")
        #expect(try await controllers.albums.create(name: "A", with: "a")?.favouriteIDs == ["a"])
        #expect(try await controllers.albums.create(name: "A", with: "z")?.favouriteIDs == [])
        #expect(try await controllers.albums.create(name: "A", with: nil)?.favouriteIDs == [])
        for _ in 3..<AlbumsController.limit { #expect(try await controllers.albums.create(name: "A") != nil) }
        #expect(try await controllers.albums.create(name: "One too many") == nil)
        #expect(controllers.albums.albums.count == AlbumsController.limit)
    }

    @Test func `A removed favourite leaves all albums, and returns to its places`() async throws {
        let controllers = gallery.controllers()
        let albums = try await fill(controllers, "abc", albums: "abc", "cba", "c")
        #expect(try await controllers.favourites.remove(id: "b")?.id == "b")
        #expect(try await stored() == ["ac", "ac", "c", "ca"])
        #expect(shown(controllers) == ["ac", "ac", "c", "ca"])
        // What has changed in the meantime stays.
        _ = try await controllers.albums.remove("c", from: albums[2])
        #expect(try await controllers.removals.undo().favourites.map(\.id) == ["b"])
        #expect(try await stored() == ["abc", "", "abc", "cba"])

        #expect(try await controllers.favourites.removeAll() == 3)
        #expect(try await stored() == ["", "", "", ""])
        #expect(try await controllers.removals.undo().favourites.count == 3)
        #expect(try await stored() == ["abc", "", "abc", "cba"])
        #expect(shown(controllers) == ["abc", "", "abc", "cba"])
    }

    @Test func `A favourite that another program removes leaves all albums`() async throws {
        let controllers = gallery.controllers()
        _ = try await fill(controllers, "abc", albums: "abc", "b")
        try await gallery.favourites.base.remove(key: CacheKey("b"))
        #expect(try await stored() == ["ac", "", "ac"])
        while controllers.favourites.favourites.count > 2 { await Task.yield() }
        #expect(shown(controllers) == ["ac", "", "ac"])
    }

    @Test func `An album is removed alone, or with the favourites that are in no other album`() async throws {
        let controllers = gallery.controllers()
        let albums = try await fill(controllers, "abcde", albums: "abc", "cd")
        #expect(try await controllers.albums.remove(id: albums[0], includingFavourites: false)?.favourites == [])
        #expect(try await stored() == ["abcde", "cd"])
        #expect(try await controllers.removals.undo().album?.name == "abc")
        #expect(try await stored() == ["abcde", "abc", "cd"])

        let removal = try await controllers.albums.remove(id: albums[0], includingFavourites: true)
        #expect(removal?.favourites.map(\.id) == ["a", "b"])
        #expect(try await stored() == ["cde", "cd"])
        #expect(try await gallery.imageKeys().count == 10)
        #expect(try await controllers.removals.undo().favourites.count == 2)
        #expect(try await stored() == ["abcde", "abc", "cd"])

        // The last removal is the one that can be undone; the bytes of the others are removed.
        _ = try await controllers.albums.remove(id: albums[0], includingFavourites: true)
        _ = try await controllers.albums.remove(id: albums[1], includingFavourites: true)
        #expect(try await gallery.imageKeys().count == 8)
        #expect(try await controllers.albums.remove(id: albums[1], includingFavourites: true) == nil)
        _ = try await controllers.removals.undo()
        #expect(try await stored() == ["cde", "cd"])
        #expect(shown(controllers) == ["cde", "cd"])
    }

    @Test func `Observers of either store see a removal in one step`() async throws {
        let controllers = gallery.controllers()
        let albums = try await fill(controllers, "abc", albums: "ab", "b")
        var states: Set<[String]> = []
        let note = { _ = states.insert(shown(controllers)) }
        let watches = [
            controllers.favourites.$favourites.$items.sink { _ in note() },
            controllers.albums.$albums.$items.sink { _ in note() },
        ]
        states = []
        _ = try await controllers.albums.remove(id: albums[0], includingFavourites: true)
        #expect(states == [["bc", "b"]])
        states = []
        _ = try await controllers.removals.undo()
        #expect(states == [["abc", "ab", "b"]])
        withExtendedLifetime(watches) {}
    }

    @Test(arguments: [false, true])
    func `A removal that fails changes nothing`(_ isAlbumsFault: Bool) async throws {
        let controllers = gallery.controllers()
        let albums = try await fill(controllers, "abc", albums: "ab", "b")
        try await controllers.albums.$albums.itemsHaveLoaded()
        let engine = isAlbumsFault ? gallery.albums : gallery.favourites
        engine.inject(.fail(.writes, .every, with: failure))
        await #expect(throws: StorageError.self) {
            try await controllers.albums.remove(id: albums[0], includingFavourites: true)
        }
        await #expect(throws: StorageError.self) { try await controllers.favourites.remove(id: "b") }
        engine.clearFaults()
        #expect(try await stored() == ["abc", "ab", "b"])
        #expect(shown(controllers) == ["abc", "ab", "b"])
        #expect(controllers.removals.last == nil)
    }

    @Test func `Any removal can be undone, and no album names a missing favourite`() async throws {
        let controllers = gallery.controllers()
        let albums = try await fill(controllers, "abcdefgh", albums: "abcd", "dcef", "", "gah")
        let everything = shown(controllers)
        var choices = Choices(state: 7)
        for _ in 0..<150 {
            let favourite = choices.pick("abcdefgh".map(String.init))
            let album = choices.pick(albums)
            switch choices.number(below: 8) {
            case 0: _ = try await controllers.albums.add(favourite, to: album)
            case 1: _ = try await controllers.albums.remove(favourite, from: album)
            case let number:
                let before = shown(controllers)
                switch number {
                case 2, 3: _ = try await controllers.favourites.remove(id: favourite)
                case 4: _ = try await controllers.favourites.removeAll()
                default: _ = try await controllers.albums.remove(id: album, includingFavourites: number > 5)
                }
                // Nothing is removed in an empty gallery.
                if shown(controllers) != before { _ = try await controllers.removals.undo() }
                #expect(shown(controllers) == before)
            }
            #expect(try await stored() == shown(controllers))
            for names in shown(controllers).dropFirst() { #expect(Set(names).isSubset(of: shown(controllers)[0])) }
        }
        #expect(shown(controllers) != everything)
    }
}
