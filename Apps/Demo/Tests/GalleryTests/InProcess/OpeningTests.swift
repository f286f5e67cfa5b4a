import Bodega
import BodegaTesting
import Boutique
import Foundation
import Logging
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

    /// Creates a gallery with a favourite, a picture on the easel, and an orphaned image.
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

    @Test func `Orphaned images, and only those, are removed at the start`() async throws {
        let owned = try await leaveOrphan()
        #expect(owned.count == 2)
        await gallery.controllers().open()
        #expect(try await gallery.imageKeys() == owned)
    }

    @Test func `No image is removed if the favourites cannot be loaded`() async throws {
        let owned = try await leaveOrphan()
        gallery.favourites.inject(.fail(.reads, .every, with: StorageError(.locked, "Another process has locked it.")))
        await gallery.controllers().open()
        #expect(try await gallery.imageKeys().count == owned.count + 1)
    }

    @Test func `No image is removed if the picture on the easel cannot be loaded`() async throws {
        let owned = try await leaveOrphan()
        gallery.easel.inject(.fail(.reads, .every, with: StorageError(.locked, "Another process has locked it.")))
        await gallery.controllers().open()
        #expect(try await gallery.imageKeys().count == owned.count + 1)
    }

    @Test func `No image is removed if a favourite cannot be decoded, because it may own one`() async throws {
        let owned = try await leaveOrphan()
        try await gallery.favourites.base.write(Data("{}".utf8), key: CacheKey("damaged"))
        let controllers = gallery.controllers()
        await controllers.open()
        #expect(try await gallery.imageKeys().count == owned.count + 1)
        #expect(controllers.favourites.$favourites.undecodable.count == 1)
        #expect(controllers.favourites.favourites.count == 1)
    }

    @Test func `The favourites of a gallery without albums are kept, and can be put into albums`() async throws {
        let folder = try Folder()
        let earlier = try SQLiteStorageEngine(opening: folder.directory("data"), databaseFilename: "gallery")
        // As the program without albums has stored them.
        for id in ["a", "b"] {
            let json =
                """
                {"picture":{"id":"\(id)","title":"Old \(id)","style":"s","algorithm":"a","palette":"p",\
                "colors":["#808080"],"width":4,"height":3,"seed":"1","isForMembers":false},\
                "image":"0123456789abcdef0123456789abcdef","addedAt":785000000.5}
                """
            try await earlier.collection(named: "favourites").write(Data(json.utf8), key: CacheKey(id))
        }
        try await earlier.close()

        let storage = try GalleryStorage(directory: folder.directory("data"))
        let controllers = GalleryControllers(
            storage: storage,
            connection: PictureAPIConnection(
                address: { "http://127.0.0.1:1" }, isOn: { true }, setOn: { _ in }, timeLimit: .seconds(180)),
            logger: Logger(label: "tests"))
        await controllers.open()
        #expect(controllers.favourites.favourites.map(\.picture.title).sorted() == ["Old a", "Old b"])
        let album = try #require(await controllers.albums.create(name: "New", with: "a"))
        _ = try await controllers.albums.add("b", to: album.id)
        _ = try await controllers.favourites.remove(id: "a")
        #expect(controllers.albums.albums.map(\.favouriteIDs) == [["b"]])
    }

    @Test func `One gallery at a time can use a folder`() throws {
        let folder = try Folder()
        let first = try GalleryStorage(directory: folder.directory("data"))
        #expect(throws: StorageError.self) { try GalleryStorage(directory: folder.directory("data")) }
        withExtendedLifetime(first) {}
    }

    @Test func `Failing to lock a folder does not close a descriptor of other code`() async throws {
        let parent = try Folder()
        let folder = parent.directory("data")
        let first = try FolderLock(folder)
        // Concurrently opens files, which reuse the numbers of closed descriptors.
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
                Issue.record("The folder was locked twice.")
            } catch let error as StorageError {
                if error.code != .locked { throw error }
            }
        }
        other.cancel()
        #expect(await other.value)
        withExtendedLifetime((first, parent)) {}
    }

    @Test func `The error for a folder that cannot be created names the folder`() throws {
        let folder = try Folder()
        try Data().write(to: folder.url.appendingPathComponent("data"))
        let error = #expect(throws: StorageError.self) { try GalleryStorage(directory: folder.directory("data")) }
        #expect(error?.code == .cannotOpen)
        #expect(error?.file?.lastPathComponent == "data")
    }
}
