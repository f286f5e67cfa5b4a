import Bodega
import BodegaTesting
import Boutique
import Foundation
import Testing

@testable import Gallery

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@MainActor
struct OpeningTests {
    let gallery = TestGallery()

    /// A gallery with a favourite, a picture on the easel, and an image that nobody owns.
    ///
    /// - Returns: The keys of the images that have owners.
    private func leaveOrphan() async throws -> Set<String> {
        let controllers = gallery.controllers()
        let exhibit = try await Exhibit.stored("a", in: controllers.images)
        _ = try await controllers.favourites.add(exhibit)
        try await controllers.easel.$exhibit.set(exhibit)
        let owned = try await gallery.imageKeys()
        _ = try await controllers.images.add(Data("orphan".utf8))
        return owned
    }

    @Test func `At the start, images that nobody owns are removed, and only those`() async throws {
        let owned = try await leaveOrphan()
        #expect(owned.count == 2)
        await gallery.controllers().open()
        #expect(try await gallery.imageKeys() == owned)
    }

    @Test func `Nothing is removed if the favourites cannot be loaded`() async throws {
        let owned = try await leaveOrphan()
        gallery.favourites.inject(.fail(.reads, .every, with: StorageError(.locked, "Somebody else has it.")))
        await gallery.controllers().open()
        #expect(try await gallery.imageKeys().count == owned.count + 1)
    }

    @Test func `Nothing is removed if the picture on the easel cannot be loaded`() async throws {
        let owned = try await leaveOrphan()
        gallery.easel.inject(.fail(.reads, .every, with: StorageError(.locked, "Somebody else has it.")))
        await gallery.controllers().open()
        #expect(try await gallery.imageKeys().count == owned.count + 1)
    }

    @Test func `Nothing is removed if a favourite cannot be decoded, because it may own an image`() async throws {
        let owned = try await leaveOrphan()
        try await gallery.favourites.base.write(Data("{}".utf8), key: CacheKey("damaged"))
        let controllers = gallery.controllers()
        await controllers.open()
        #expect(try await gallery.imageKeys().count == owned.count + 1)
        #expect(controllers.favourites.$favourites.undecodable.count == 1)
        #expect(controllers.favourites.favourites.count == 1)
    }

    @Test func `A folder belongs to one gallery at a time`() throws {
        let folder = try Folder()
        let first = try GalleryStorage(directory: folder.directory("data"))
        #expect(throws: StorageError.self) { try GalleryStorage(directory: folder.directory("data")) }
        withExtendedLifetime(first) {}
    }

    @Test func `A folder that is taken costs nobody else a descriptor`() async throws {
        let parent = try Folder()
        let folder = parent.directory("data")
        let first = try FolderLock(folder)
        // Somebody who opens files meanwhile, and gets the numbers that have just become free.
        let other = Task.detached {
            while !Task.isCancelled {
                let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0, close(descriptor) == 0 else { return false }
            }
            return true
        }
        for _ in 0..<5000 {
            do {
                _ = try FolderLock(folder)
                Issue.record("It was locked twice.")
            } catch let error as StorageError {
                if error.code != .locked { throw error }
            }
        }
        other.cancel()
        #expect(await other.value)
        withExtendedLifetime((first, parent)) {}
    }

    @Test func `A folder that cannot be made is an error that names it`() throws {
        let folder = try Folder()
        try Data().write(to: folder.url.appendingPathComponent("data"))
        let error = #expect(throws: StorageError.self) { try GalleryStorage(directory: folder.directory("data")) }
        #expect(error?.code == .cannotOpen)
        #expect(error?.file?.lastPathComponent == "data")
    }
}
