import Bodega
import BodegaTesting
import Foundation
import Testing

@testable import Gallery

struct EaselControllerTests {
    let gallery = TestGallery()

    @Test func `Another picture replaces the current one, whose bytes are removed one picture later`() async throws {
        try await gallery.run { _, controllers in
            var images: [String] = []
            for _ in 0..<3 {
                try await controllers.easel.showAnother(nil)
                images.append(try #require(await controllers.easel.exhibit).image.text)
                // A page that shows the former picture can still load it.
                #expect(try await Set(gallery.imageKeys()) == Set(images.suffix(2)))
            }
            #expect(Set(images).count == 3)
        }
    }

    @Test func `Concurrent requests share one picture`() async throws {
        try await gallery.run { _, controllers in
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 { group.addTask { try await controllers.easel.showAnother(nil) } }
                try await group.waitForAll()
            }
            let image = await controllers.easel.exhibit?.image.text
            #expect(try await gallery.imageKeys() == [image])
            #expect(await !controllers.easel.isFetching)
        }
    }

    @Test func `A picture that cannot be stored leaves the current one and no orphaned bytes`() async throws {
        try await gallery.run { _, controllers in
            try await controllers.easel.showAnother(nil)
            let first = await controllers.easel.exhibit
            gallery.easel.inject(.fail(.writes, .every, with: StorageError(.storageFull, "The volume is full.")))
            await #expect(throws: StorageError.self) { try await controllers.easel.showAnother(nil) }
            #expect(await controllers.easel.exhibit == first)
            #expect(try await gallery.imageKeys() == [first?.image.text])
            #expect(await !controllers.easel.isFetching)
        }
    }

    @Test func `The picture on the easel survives a restart`() async throws {
        try await gallery.run { _, controllers in
            try await controllers.easel.showAnother(nil)
            let first = await controllers.easel.exhibit
            let again = await gallery.controllers()
            await again.open()
            #expect(await again.easel.exhibit == first)
        }
    }
}
