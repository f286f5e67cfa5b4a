import Bodega
import BodegaSync
import Boutique
import Foundation

/// A device whose favourites and albums are synchronized.
struct SyncedDevice: Sendable {
    /// The name of the device.
    let name: String
    /// The synchronization of its database with that of the server.
    let sync: StorageSync
    /// The connection to the server.
    let server: SyncConnection
}

extension GalleryStorage {
    /// Opens the collections of a device.
    ///
    /// - Parameters:
    ///   - device: The name of the device.
    ///   - open: Opens a collection on the device.
    ///   - server: The connection to the server.
    ///   - secrets: Keeps the session.
    ///   - defaultsSuite: The suite of user defaults that stores the preferences.
    ///   - lock: The lock of the folder.
    init(
        device: String,
        _ open: @escaping @Sendable (String) throws -> any StorageBackend,
        server: SyncConnection,
        secrets: any SecretStorage,
        defaultsSuite: String,
        lock: FolderLock? = nil
    ) async throws {
        var options = SyncOptions()
        // Until all collections are open, because some transactions change several of them.
        options.startsPaused = true
        // The server is on this machine, so attempts cost little.
        options.maximumDelay = .seconds(2)
        let sync = try await StorageSync(
            local: { $0 == Album.collection ? UnkeptReferences(base: try open($0)) : try open($0) },
            remote: server.collection, options: options)
        // Images first, so that they are the first to be sent: no device shows a favourite before it has its image.
        let images = try await sync.collection(named: SyncedCollections.images)
        let favourites = try await sync.collection(
            named: Favourite.collection, preserving: Favourite.self, policy: .firstAddition)
        let albums = try await sync.collection(named: Album.collection, preserving: Album.self)
        self.init(
            favourites: favourites, albums: albums,
            easel: try open("easel"), images: try open("images"), sharedImages: images,
            archive: try open("archive"), archiveProgress: try open("archive-progress"),
            secrets: secrets, defaultsSuite: defaultsSuite,
            device: SyncedDevice(name: device, sync: sync, server: server), lock: lock)
    }
}

extension SyncConflictPolicy {
    /// Keeps the favourite that was added first. Favourites are never edited, so two versions of one differ only if two
    /// devices have added the same picture, which is no conflict for their users.
    fileprivate static let firstAddition = custom { versions in
        let additions = [versions.local, versions.remote].compactMap(\.self)
        return additions.min { left, right in
            (addedAt(left), left.base64EncodedString()) < (addedAt(right), right.base64EncodedString())
        }
    }

    private static func addedAt(_ data: Data) -> Date {
        (try? JSONObjectCoder.json.decode(Favourite.self, from: data).addedAt) ?? .distantPast
    }
}
