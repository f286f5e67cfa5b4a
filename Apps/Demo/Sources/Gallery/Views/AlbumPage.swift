import Boutique
import Foundation

/// The page of an album.
struct AlbumPage: Page {
    let template = "album"
    let chrome: Chrome
    let albumID: String
    let name: String
    let cards: [PictureView]
    /// `nil` if there are none, so that a template can test it.
    let count: Int?
    let removal: Question

    /// What the page asks before the album is removed.
    struct Question: Sendable {
        let text: String
        /// The label for removing the album and its favourites, `nil` if no favourite would be removed.
        let both: String?
    }
}

extension AlbumPage {
    /// Reads the values from the controllers.
    ///
    /// - Returns: `nil` if there is no such album.
    @MainActor
    init?(id: String, _ controllers: GalleryControllers, apiIsOn: Bool) {
        let albums = controllers.albums.$albums
        guard let album = albums[id] else { return nil }
        let favourites = controllers.favourites.$favourites
        chrome = Chrome(title: "\(album.name) · Emporium Gallery", controllers, apiIsOn: apiIsOn)
        albumID = id
        name = album.name
        cards = album.favourites(in: favourites).map { PictureView($0.picture, $0.image) }
        count = cards.isEmpty ? nil : cards.count
        let removable = album.favouriteIDs(inNoneOf: albums.items).filter { favourites.contains(id: $0) }
        removal = Question(count: cards.count, removable: removable.count)
    }
}

extension AlbumPage.Question {
    /// Creates the question about an album with a number of favourites, of which some are in no other album.
    fileprivate init(count: Int, removable: Int) {
        let others = count - removable
        let consequence =
            switch (others, removable) {
            case (0, 0): "It is empty."
            case (0, 1): "Its picture is in no other album, but can stay a favourite."
            case (0, _): "Its \(count) pictures are in no other album, but can stay favourites."
            case (1, 0): "Its picture is in another album, too, and stays a favourite."
            case (_, 0): "Its \(count) pictures are in other albums, too, and stay favourites."
            case (1, _): "One of its \(count) pictures is in another album, too, and stays a favourite."
            case (_, _): "\(others) of its \(count) pictures are in other albums, too, and stay favourites."
            }
        text = "\(consequence) You can undo this until you remove something else."
        both =
            switch removable {
            case 0: nil
            case 1: "Remove the album and one favourite"
            default: "Remove the album and \(removable) favourites"
            }
    }
}

/// An album on the home page.
struct AlbumCard: Sendable {
    let id: String
    let name: String
    let count: Int
    let isOne: Bool
    /// The first pictures.
    let cover: [PictureView]

    /// Creates a card.
    @MainActor
    init(_ album: Album, _ favourites: Store<Favourite>) {
        let contents = album.favourites(in: favourites)
        (id, name, count, isOne) = (album.id, album.name, contents.count, contents.count == 1)
        cover = contents.prefix(4).map { PictureView($0.picture, $0.image) }
    }
}

extension Album {
    /// Its favourites, without those that a program without references has removed.
    @MainActor
    fileprivate func favourites(in store: Store<Favourite>) -> [Favourite] { favouriteIDs.compactMap { store[$0] } }
}

extension [Album] {
    /// The albums in the order in which pages show them.
    var sortedByName: [Album] {
        sorted { ($0.name.lowercased(), $0.name, $0.id) < ($1.name.lowercased(), $1.name, $1.id) }
    }
}
