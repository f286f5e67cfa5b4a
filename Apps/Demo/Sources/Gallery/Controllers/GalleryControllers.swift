import Boutique
import Foundation
import Logging

/// The controllers of a gallery and the services that they share.
@MainActor
struct GalleryControllers {
    let favourites: FavouritesController
    let albums: AlbumsController
    let removals: RemovalsController
    let easel: EaselController
    let archive: ArchiveController
    let account: AccountController
    let preferences: PreferencesController
    /// The synchronization with other devices, `nil` if there is none.
    let sync: SyncController?
    let availability = Availability()
    let noticeboard: Noticeboard

    let images: ImageStore
    let api: PictureClient
    let connection: PictureAPIConnection
    let logger: Logger

    /// Creates the controllers. The favourites and the albums load in the background.
    init(
        storage: GalleryStorage,
        connection: PictureAPIConnection,
        noticeboard: Noticeboard = Noticeboard(),
        archiveSize: Int = 100_000,
        logger: Logger
    ) {
        self.noticeboard = noticeboard
        self.connection = connection
        self.logger = logger
        api = PictureClient(address: connection.address, timeLimit: connection.timeLimit)
        images = ImageStore(engine: storage.images, shared: storage.sharedImages, logger: logger)
        // On collections of one database, so that transactions can change both.
        let favouriteStore = Store<Favourite>(storage: storage.favourites)
        let albumStore = Store<Album>(storage: storage.albums)
        removals = RemovalsController(favourites: favouriteStore, albums: albumStore, images: images)
        favourites = FavouritesController(favouriteStore, albums: albumStore, images: images, removals: removals)
        albums = AlbumsController(albumStore, favourites: favouriteStore, removals: removals)
        easel = EaselController(
            storage: storage.easel, images: images, api: api, availability: availability)
        archive = ArchiveController(
            storage: storage.archive, progress: storage.archiveProgress, size: archiveSize, logger: logger)
        account = AccountController(
            secrets: storage.secrets, api: api, availability: availability, logger: logger)
        preferences = PreferencesController(suite: storage.defaultsSuite)
        sync = storage.device.map {
            SyncController($0, albums: albumStore, suite: storage.defaultsSuite, logger: logger)
        }
    }
}

extension GalleryControllers {

    /// Loads the stored data and removes orphaned images.
    ///
    /// If the data cannot be loaded, the page says so and offers to try again. No image is removed then, because an
    /// image may belong to a favourite that cannot be read.
    func open() async {
        do {
            let store = favourites.$favourites
            try await store.itemsHaveLoaded()
            try await albums.$albums.itemsHaveLoaded()
            try await easel.$exhibit.valueHasLoaded()
            guard store.undecodable.isEmpty else { return }
            var owned = images.isShared ? [] : Set(store.items.map(\.image))
            if let exhibit = easel.exhibit { owned.insert(exhibit.image) }
            let count = try await images.removeAll(except: owned)
            if count > 0 { logger.info("Removed orphaned images.", metadata: ["count": "\(count)"]) }
        } catch {
            logger.error("The stored data could not be loaded.", metadata: ["error": "\(error)"])
        }
    }
}

extension GalleryControllers {
    /// Whether an image that is not stored here belongs to a favourite of another device, and may still arrive.
    func isExpecting(_ image: ImageKey) -> Bool {
        images.isShared && favourites.favourites.contains { $0.image == image }
    }
}
