import Boutique
import Foundation
import Logging

/// All controllers of one gallery, and what they share.
@MainActor
struct GalleryControllers {
    let favourites: FavouritesController
    let easel: EaselController
    let account: AccountController
    let preferences: PreferencesController
    let availability = Availability()
    let noticeboard: Noticeboard

    let images: ImageStore
    let api: PictureClient
    let connection: PictureAPIConnection
    let logger: Logger

    /// Creates the controllers; the favourites load in the background.
    init(
        storage: GalleryStorage,
        connection: PictureAPIConnection,
        noticeboard: Noticeboard = Noticeboard(),
        logger: Logger
    ) {
        self.noticeboard = noticeboard
        self.connection = connection
        self.logger = logger
        api = PictureClient(address: connection.address, timeLimit: connection.timeLimit)
        images = ImageStore(engine: storage.images, logger: logger)
        favourites = FavouritesController(Store(storage: storage.favourites), images: images)
        easel = EaselController(
            storage: storage.easel, images: images, api: api, availability: availability)
        account = AccountController(
            secrets: storage.secrets, api: api, availability: availability, logger: logger)
        preferences = PreferencesController(suite: storage.defaultsSuite)
    }
}

extension GalleryControllers {

    /// Loads what is stored, and removes images that nobody owns.
    ///
    /// What can't be loaded is shown on the page, which offers to try again. Nothing is removed then: an image whose owner
    /// cannot be read is not without one.
    func open() async {
        do {
            let store = favourites.$favourites
            try await store.itemsHaveLoaded()
            try await easel.$exhibit.valueHasLoaded()
            guard store.undecodable.isEmpty else { return }
            var owned = Set(store.items.map(\.image))
            if let exhibit = easel.exhibit { owned.insert(exhibit.image) }
            let count = try await images.removeAll(except: owned)
            if count > 0 { logger.info("Removed images that nobody owned.", metadata: ["count": "\(count)"]) }
        } catch {
            logger.error("What is stored could not be loaded.", metadata: ["error": "\(error)"])
        }
    }
}
