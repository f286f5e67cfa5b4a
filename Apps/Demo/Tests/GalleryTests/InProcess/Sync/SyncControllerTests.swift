import Bodega
import BodegaSync
import BodegaTesting
import Boutique
import Foundation
import Testing

@testable import Gallery

/// Favourites and albums on two devices.
@MainActor
struct SyncControllerTests {

    @Test func `A favourite appears on the other device together with its image`() async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        try await galleries.add("a", galleries.laptop)
        await galleries.wait { _, phone in !phone.favourites.favourites.isEmpty }
        let favourite = try #require(galleries.phone.favourites.favourites.first)
        #expect(favourite == galleries.laptop.favourites.favourites.first)
        let data = try #require(await galleries.phone.images.data(favourite.image))
        #expect(String(decoding: data, as: UTF8.self) == "<svg>a</svg>")
        // The image on the easel stays on its device.
        try await galleries.settle()
        #expect(try await galleries.server[SyncedCollections.images]?.base.fetchCount() == 1)
    }

    @Test func `Switched off, both devices go on; switched on, they agree`() async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        try await galleries.add("a", galleries.laptop)
        try await galleries.settle()
        try await galleries.setOn(false)
        try await galleries.add("b", galleries.laptop)
        _ = try await galleries.laptop.favourites.remove(id: "a")
        try await galleries.add("c", galleries.phone)
        let album = try #require(await galleries.phone.albums.create(name: "Autumn", with: "c"))
        _ = try await galleries.phone.albums.add("a", to: album.id)
        #expect(galleries.laptop.shownFavourites == "b")
        #expect(galleries.phone.shownFavourites == "ac")
        await galleries.wait { laptop, phone in laptop.sync?.waiting == 2 && phone.sync?.waiting == 2 }

        try await galleries.settleOneByOne()
        for controllers in galleries.both {
            #expect(controllers.shownFavourites == "bc")
            // No page shows the favourite that was added to the album and removed at the same time.
            let page = AlbumPage(id: album.id, controllers, apiIsOn: true)
            #expect(page?.cards.map(\.id) == ["c"])
            for favourite in controllers.favourites.favourites {
                #expect(try await controllers.images.data(favourite.image) != nil)
            }
            #expect(controllers.sync?.conflicts.isEmpty == true)
        }
    }

    @Test(arguments: [MergeSide.local, .remote, nil])
    func `Of two names, the user chooses one, and both devices show it`(_ choice: MergeSide?) async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        try await galleries.add("a", galleries.laptop)
        let album = try #require(await galleries.laptop.albums.create(name: "Old", with: "a"))
        try await galleries.settle()
        try await galleries.setOn(false)
        _ = try await galleries.laptop.albums.rename(album.id, to: "Laptop")
        _ = try await galleries.phone.albums.rename(album.id, to: "Phone")
        try await galleries.settleOneByOne()
        await galleries.wait { _, phone in phone.sync?.conflicts.isEmpty == false }
        // The device that sends later wins, and reports what it has overwritten.
        #expect(galleries.laptop.shownAlbums == ["Phone: a"])
        #expect(galleries.laptop.sync?.conflicts.isEmpty == true)
        let sync = try #require(galleries.phone.sync)
        let conflict = try #require(sync.conflicts.first)
        #expect(conflict.local?.name == "Phone")
        #expect(conflict.remote?.name == "Laptop")
        #expect(conflict.disputed == [.name])

        // What has changed since stays.
        _ = try await galleries.laptop.albums.remove("a", from: album.id)
        try await galleries.settle()
        if let choice {
            let favourites = galleries.phone.favourites.$favourites
            #expect(try await sync.use(choice, of: conflict.id, favourites: favourites) != nil)
        } else {
            #expect(try await sync.keep(conflict.id))
        }
        #expect(sync.conflicts.isEmpty)
        try await galleries.settle()
        let name = choice == .remote ? "Laptop" : "Phone"
        #expect(galleries.shownAlbums == [["\(name): "], ["\(name): "]])
        // The conflict is settled.
        #expect(try await !sync.keep(conflict.id))
        let again = try await sync.use(.local, of: conflict.id, favourites: galleries.phone.favourites.$favourites)
        #expect(again == nil)
    }

    @Test func `Of two changes of an album's pictures, the user chooses one`() async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        for id in ["a", "b", "c"] { try await galleries.add(id, galleries.laptop) }
        let album = try #require(await galleries.laptop.albums.create(name: "Album", with: "a"))
        try await galleries.settle()
        try await galleries.setOn(false)
        _ = try await galleries.laptop.albums.add("b", to: album.id)
        _ = try await galleries.phone.albums.add("c", to: album.id)
        _ = try await galleries.phone.albums.rename(album.id, to: "New")
        try await galleries.settleOneByOne()
        await galleries.wait { _, phone in phone.sync?.conflicts.isEmpty == false }
        #expect(galleries.shownAlbums == [["New: ac"], ["New: ac"]])
        let conflict = try #require(galleries.phone.sync?.conflicts.first)
        #expect(conflict.disputed == [.pictures])
        // The name is not disputed, so it stays.
        let favourites = galleries.phone.favourites.$favourites
        _ = try await galleries.phone.sync?.use(.remote, of: conflict.id, favourites: favourites)
        try await galleries.settle()
        #expect(galleries.shownAlbums == [["New: ab"], ["New: ab"]])
    }

    @Test func `A removed album that another device has renamed comes back, and can be removed again`() async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        let album = try #require(await galleries.laptop.albums.create(name: "Old"))
        try await galleries.settle()
        try await galleries.setOn(false)
        _ = try await galleries.laptop.albums.rename(album.id, to: "New")
        _ = try await galleries.phone.albums.remove(id: album.id, includingFavourites: false)
        try await galleries.settleOneByOne()
        await galleries.wait { _, phone in phone.sync?.conflicts.isEmpty == false }
        #expect(galleries.phone.shownAlbums == ["New: "])
        let sync = try #require(galleries.phone.sync)
        let conflict = try #require(sync.conflicts.first)
        #expect(conflict.local == nil && conflict.remote?.name == "New" && conflict.disputed == [.existence])
        _ = try await sync.use(.local, of: conflict.id, favourites: galleries.phone.favourites.$favourites)
        try await galleries.settle()
        #expect(galleries.shownAlbums == [[], []])
    }

    @Test func `A removal is undone on both devices, with images and albums`() async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        for id in ["a", "b"] { try await galleries.add(id, galleries.laptop) }
        _ = try await galleries.laptop.albums.create(name: "Album", with: "a")
        try await galleries.settle()
        _ = try await galleries.laptop.favourites.remove(id: "a")
        try await galleries.settle()
        #expect(galleries.phone.shownFavourites == "b")
        #expect(galleries.phone.shownAlbums == ["Album: "])
        #expect(try await galleries.serverImages() == ["<svg>b</svg>"])

        _ = try await galleries.laptop.removals.undo()
        try await galleries.settle()
        #expect(galleries.phone.shownFavourites == "ab")
        #expect(galleries.phone.shownAlbums == ["Album: a"])
        #expect(try await galleries.serverImages() == ["<svg>a</svg>", "<svg>b</svg>"])
        // Only the images of the easel are left on the laptop.
        #expect(try await galleries.laptopImages.fetchCount() == 2)

        // Another removal makes the former one final.
        _ = try await galleries.laptop.favourites.remove(id: "a")
        _ = try await galleries.laptop.favourites.remove(id: "b")
        try await galleries.settle()
        #expect(try await galleries.serverImages().isEmpty)
        #expect(try await galleries.laptopImages.fetchCount() == 3)
        await galleries.laptop.open()
        #expect(try await galleries.laptopImages.fetchCount() == 0)
    }

    @Test func `A favourite that is removed on one device and added to an album on the other is gone on both`()
        async throws
    {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        try await galleries.add("a", galleries.laptop)
        let album = try #require(await galleries.laptop.albums.create(name: "Album"))
        try await galleries.settle()
        try await galleries.laptop.sync?.setOn(false)
        _ = try await galleries.laptop.favourites.remove(id: "a")
        _ = try await galleries.phone.albums.add("a", to: album.id)
        try await galleries.settleOneByOne(phoneFirst: true)
        // The databases are the same, too.
        #expect(galleries.laptop.contents == galleries.phone.contents)
        for controllers in galleries.both {
            #expect(controllers.shownFavourites == "")
            #expect(AlbumPage(id: album.id, controllers, apiIsOn: true)?.cards.isEmpty == true)
            #expect(controllers.sync?.conflicts.isEmpty == true)
        }
    }

    @Test func `An album that changes after a removal, before either is sent, is no conflict`() async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        for id in ["a", "b"] { try await galleries.add(id, galleries.laptop) }
        let album = try #require(await galleries.laptop.albums.create(name: "Album", with: "a"))
        try await galleries.settle()
        try await galleries.setOn(false)
        _ = try await galleries.laptop.favourites.remove(id: "a")
        _ = try await galleries.laptop.albums.add("b", to: album.id)
        try await galleries.setOn(true)
        try await galleries.settle()
        #expect(galleries.phone.shownAlbums == ["Album: b"])
        #expect(galleries.both.allSatisfy { $0.sync?.conflicts.isEmpty == true })
    }

    @Test(arguments: [true, false])
    func `The same picture on both devices is one favourite, the one that was added first, and no conflict`(
        _ isPhoneFirst: Bool
    ) async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        try await galleries.setOn(false)
        try await galleries.add("a", galleries.phone)
        try await galleries.add("a", galleries.laptop)
        let first = galleries.phone.favourites.favourites
        try await galleries.settleOneByOne(phoneFirst: isPhoneFirst)
        #expect(galleries.laptop.favourites.favourites == first)
        #expect(try await galleries.laptop.images.data(first[0].image) != nil)
        #expect(galleries.both.allSatisfy { $0.sync?.conflicts.isEmpty == true })
    }

    @Test func `A refused change stays on the device, and is sent again or given up`() async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        let albums = try #require(galleries.server[Album.collection])
        let sync = try #require(galleries.laptop.sync)
        for isRetried in [true, false] {
            albums.inject(.fail(.writes, .every, with: StorageError(.invalidArgument, "You may not.")))
            _ = try await galleries.laptop.albums.create(name: "Refused \(isRetried)")
            await galleries.wait { laptop, _ in laptop.sync?.refusals.count == 1 }
            #expect(sync.refusals[0].failure?.message == "You may not.")
            #expect(sync.waiting == 0)
            albums.clearFaults()
            if isRetried { try await sync.retryRefusals() } else { try await sync.discardRefusals() }
            await galleries.wait { laptop, _ in laptop.sync?.refusals.isEmpty == true }
            try await galleries.settle()
            #expect(galleries.laptop.shownAlbums == ["Refused true: "])
        }
    }

    @Test func `Without a server, the page shows that the device is offline, and what waits`() async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        for engine in galleries.server.values {
            engine.inject(.fail(.reads, .every, with: StorageError(.unreachable, "The server is off.")))
            engine.inject(.fail(.writes, .every, with: StorageError(.unreachable, "The server is off.")))
        }
        try await galleries.add("a", galleries.laptop)
        await galleries.wait { laptop, _ in
            laptop.sync.map { SyncView($0).text } == "Offline · 1 change waits"
        }
        for engine in galleries.server.values { engine.clearFaults() }
        try await galleries.settle()
        #expect(galleries.phone.shownFavourites == "a")
        #expect(SyncView(try #require(galleries.laptop.sync)).text == "Everything is up to date")
    }

    @Test func `The choice to be off is stored`() async throws {
        let galleries = try await SyncedGalleries()
        try await galleries.begin()
        let sync = try #require(galleries.laptop.sync)
        try await sync.setOn(false)
        await galleries.wait { laptop, _ in laptop.sync?.status.isPaused == true }
        #expect(!sync.isOn)
        try await galleries.add("a", galleries.laptop)
        // As after a restart.
        let again = Task { await sync.run() }
        try await galleries.add("b", galleries.phone)
        await galleries.wait { laptop, phone in laptop.sync?.waiting == 1 && phone.sync?.waiting == 0 }
        #expect(galleries.phone.shownFavourites == "b")
        again.cancel()
    }
}
