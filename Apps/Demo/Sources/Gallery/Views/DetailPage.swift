import Foundation

/// The page of a favourite.
struct DetailPage: Page {
    let template = "detail"
    let chrome: Chrome
    let favourite: PictureView
    /// When it was added, in ISO 8601.
    let addedAt: String
    /// When it was added, for people.
    let addedAtText: String
    let previous: Neighbour?
    let next: Neighbour?
    let albums: [Membership]

    /// The favourite before or after this one.
    struct Neighbour: Sendable {
        let id: String
        let title: String
    }

    /// An album, and whether the favourite is in it.
    struct Membership: Sendable {
        let id: String
        let name: String
        let isMember: Bool
    }
}

extension DetailPage {
    /// Reads the values from the controllers.
    ///
    /// - Returns: `nil` if there is no such favourite.
    @MainActor
    init?(id: String, _ controllers: GalleryControllers, apiIsOn: Bool) {
        let favourites = controllers.preferences.sortOrder.sort(controllers.favourites.favourites)
        guard let place = favourites.firstIndex(where: { $0.id == id }) else { return nil }
        func neighbour(_ place: Int) -> Neighbour? {
            guard favourites.indices.contains(place) else { return nil }
            return Neighbour(id: favourites[place].id, title: favourites[place].picture.title)
        }
        let favourite = favourites[place]
        chrome = Chrome(title: "\(favourite.picture.title) · Emporium Gallery", controllers, apiIsOn: apiIsOn)
        self.favourite = PictureView(favourite.picture, favourite.image)
        addedAt = favourite.addedAt.formatted(.iso8601)
        addedAtText = favourite.addedAt.formatted(
            Date.FormatStyle(date: .long, time: .shortened, locale: Locale(identifier: "en_GB")))
        previous = neighbour(place - 1)
        next = neighbour(place + 1)
        albums = controllers.albums.albums.sortedByName.map { album in
            Membership(id: album.id, name: album.name, isMember: album.favouriteIDs.contains(id))
        }
    }
}
