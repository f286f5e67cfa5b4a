import Bodega
import BodegaTesting
import Boutique
import Foundation
import Testing

@testable import Gallery

@MainActor
struct FavouritesControllerTests {
    let gallery = TestGallery()

    private var failure: StorageError { StorageError(.storageFull, "The volume is full.") }

    /// Expects that each favourite has its bytes, and that no other bytes than the given ones are stored.
    private func expectWhole(_ controllers: GalleryControllers, others: Set<String> = []) async throws {
        let owned = Set(controllers.favourites.favourites.map(\.image.text))
        #expect(owned.count == controllers.favourites.favourites.count)
        #expect(try await gallery.imageKeys() == owned.union(others))
    }

    @Test func `A favourite has bytes of its own`() async throws {
        let controllers = gallery.controllers()
        let exhibit = try await Exhibit.stored("a", in: controllers.images)
        #expect(try await controllers.favourites.add(exhibit) == .added)
        #expect(controllers.favourites.favourites.map(\.id) == ["a"])
        #expect(controllers.favourites.favourites[0].image != exhibit.image)
        try await expectWhole(controllers, others: [exhibit.image.text])
    }

    @Test func `A favourite that is added twice, even concurrently, is stored once and leaves no orphaned bytes`()
        async throws
    {
        let controllers = gallery.controllers()
        let exhibit = try await Exhibit.stored("a", in: controllers.images)
        // All tasks run on the main actor, and each of them awaits the storage several times.
        let tasks = (0..<8).map { _ in Task { try await controllers.favourites.add(exhibit) } }
        var additions: [FavouritesController.Addition] = []
        for task in tasks { additions.append(try await task.value) }
        #expect(additions.count { $0 == .added } == 1)
        #expect(additions.count { $0 == .wasThere } == 7)
        try await expectWhole(controllers, others: [exhibit.image.text])
    }

    @Test func `A favourite that cannot be stored leaves no orphaned bytes`() async throws {
        let controllers = gallery.controllers()
        let exhibit = try await Exhibit.stored("a", in: controllers.images)
        try await controllers.favourites.$favourites.itemsHaveLoaded()
        gallery.favourites.inject(.fail(.writes, .every, with: failure))
        await #expect(throws: StorageError.self) { try await controllers.favourites.add(exhibit) }
        gallery.favourites.clearFaults()
        try await expectWhole(controllers, others: [exhibit.image.text])
    }

    @Test func `A picture whose bytes are missing cannot become a favourite`() async throws {
        let controllers = gallery.controllers()
        let exhibit = try await Exhibit.stored("a", in: controllers.images)
        await controllers.images.discard([exhibit.image])
        #expect(try await controllers.favourites.add(exhibit) == .isGone)
        try await expectWhole(controllers)
    }

    @Test func `The number of favourites is limited`() async throws {
        let controllers = gallery.controllers()
        let exhibit = try await Exhibit.stored("one-too-many", in: controllers.images)
        try await controllers.favourites.$favourites.insert(
            (0..<FavouritesController.limit).map { number in
                Favourite(
                    picture: Picture(
                        id: "\(number)", title: "\(number)", style: "s", algorithm: "a", palette: "p",
                        colors: ["#808080"], width: 1, height: 1, seed: "1", isForMembers: false),
                    image: ImageKey(), addedAt: .now)
            })
        #expect(try await controllers.favourites.add(exhibit) == .isFull)
        #expect(try await gallery.imageKeys() == [exhibit.image.text])
    }

    @Test func `Removed favourites can be restored until others are removed`() async throws {
        let controllers = gallery.controllers()
        for id in ["a", "b", "c"] {
            let exhibit = try await Exhibit.stored(id, in: controllers.images)
            _ = try await controllers.favourites.add(exhibit)
            await controllers.images.discard([exhibit.image])
        }
        let all = controllers.favourites.favourites
        #expect(try await controllers.favourites.remove(id: "a")?.id == "a")
        #expect(try await controllers.removals.undo().favourites.count == 1)
        #expect(Set(controllers.favourites.favourites) == Set(all))
        try await expectWhole(controllers)

        #expect(try await controllers.favourites.remove(id: "a")?.id == "a")
        #expect(try await controllers.favourites.removeAll() == 2)
        #expect(try await controllers.removals.undo().favourites.count == 2)
        #expect(controllers.favourites.favourites.map(\.id) == ["b", "c"])
        try await expectWhole(controllers)
        #expect(try await controllers.removals.undo().favourites.count == 0)
        #expect(try await controllers.favourites.remove(id: "a") == nil)
    }

    @Test func `Restoring does not change a favourite that has been added again`() async throws {
        let controllers = gallery.controllers()
        let exhibit = try await Exhibit.stored("a", in: controllers.images)
        _ = try await controllers.favourites.add(exhibit)
        _ = try await controllers.favourites.remove(id: "a")
        _ = try await controllers.favourites.add(exhibit)
        let again = controllers.favourites.favourites
        #expect(try await controllers.removals.undo().favourites.count == 0)
        #expect(controllers.favourites.favourites == again)
        try await expectWhole(controllers, others: [exhibit.image.text])
    }

    @Test func `Restoring can be repeated after a failure`() async throws {
        let controllers = gallery.controllers()
        let exhibit = try await Exhibit.stored("a", in: controllers.images)
        _ = try await controllers.favourites.add(exhibit)
        _ = try await controllers.favourites.remove(id: "a")
        gallery.favourites.inject(.fail(.writes, .every, with: failure))
        await #expect(throws: StorageError.self) { try await controllers.removals.undo().favourites.count }
        gallery.favourites.clearFaults()
        #expect(try await controllers.removals.undo().favourites.count == 1)
        try await expectWhole(controllers, others: [exhibit.image.text])
    }
}
