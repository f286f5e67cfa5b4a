import Boutique

/// The page with the easel, the favourites and the albums.
struct HomePage: Page {
    let template = "home"
    let chrome: Chrome
    let easel: Easel
    let favourites: Favourites
    let albums: Albums

    /// The picture on the easel.
    struct Easel: Sendable {
        let picture: PictureView?
        let isFavourite: Bool
        let isFetching: Bool
    }

    /// The favourites, or the reason why they are missing.
    struct Favourites: Sendable {
        let cards: [PictureView]
        /// `nil` if there are none, so that a template can test it.
        let count: Int?
        let isEmpty: Bool
        let status: StoreStatus
    }

    /// The albums, or the reason why they are missing.
    struct Albums: Sendable {
        let cards: [AlbumCard]
        /// `nil` if there are none, so that a template can test it.
        let count: Int?
        let isEmpty: Bool
        let status: StoreStatus
    }
}

extension HomePage {
    /// Reads the values from the controllers.
    @MainActor
    init(_ controllers: GalleryControllers, apiIsOn: Bool) {
        let exhibit = controllers.easel.exhibit
        let store = controllers.favourites.$favourites
        chrome = Chrome(title: "Emporium Gallery", controllers, apiIsOn: apiIsOn)
        easel = Easel(
            picture: exhibit.map { PictureView($0.picture, $0.image) },
            isFavourite: exhibit.map { store.contains(id: $0.picture.id) } ?? false,
            isFetching: controllers.easel.isFetching
        )
        favourites = Favourites(store, controllers.preferences.sortOrder)
        albums = Albums(controllers.albums.$albums, store)
    }
}

extension HomePage.Favourites {
    @MainActor
    fileprivate init(_ store: Store<Favourite>, _ order: SortOrder) {
        cards = order.sort(store.items).map { PictureView($0.picture, $0.image) }
        count = cards.isEmpty ? nil : cards.count
        status = StoreStatus(store)
        isEmpty = cards.isEmpty && status.isFine
    }
}

extension HomePage.Albums {
    @MainActor
    fileprivate init(_ store: Store<Album>, _ favourites: Store<Favourite>) {
        cards = store.items.sortedByName.map { AlbumCard($0, favourites) }
        count = cards.isEmpty ? nil : cards.count
        status = StoreStatus(store)
        isEmpty = cards.isEmpty && status.isFine
    }
}
