import Boutique

// Albums.
extension GalleryActions {

    /// Creates an album.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - favouriteID: The first favourite in it, if any.
    func createAlbum(name: String, with favouriteID: Favourite.ID?) async {
        guard let name = text(name, "A name", limit: 60) else { return }
        await attempt("The album “\(name)” could not be created") {
            if try await controllers.albums.create(name: name, with: favouriteID) != nil {
                noticeboard.show("The album “\(name)” has been created.")
            } else {
                let limit = AlbumsController.limit
                noticeboard.show("You have \(limit) albums, which is the maximum. Remove some first.", isError: true)
            }
        }
    }

    /// Renames an album.
    func renameAlbum(id: Album.ID, to name: String) async {
        guard let name = text(name, "A name", limit: 60) else { return }
        await attempt("The album could not be renamed") {
            if let former = try await controllers.albums.rename(id, to: name) {
                noticeboard.show("The album “\(former.name)” is now called “\(name)”.")
            } else {
                noticeboard.show("This album has already been removed.", isError: true)
            }
        }
    }

    /// Adds a favourite to an album.
    func addFavourite(_ favouriteID: Favourite.ID, toAlbum id: Album.ID) async {
        await attempt("The favourite could not be added to the album") {
            show(try await controllers.albums.add(favouriteID, to: id)) { "“\($0)” is now in “\($1)”." }
        }
    }

    /// Removes a favourite from an album.
    func removeFavourite(_ favouriteID: Favourite.ID, fromAlbum id: Album.ID) async {
        await attempt("The favourite could not be removed from the album") {
            show(try await controllers.albums.remove(favouriteID, from: id)) { "“\($0)” is no longer in “\($1)”." }
        }
    }

    private func show(_ change: (Favourite, Album)?, _ text: (_ title: String, _ name: String) -> String) {
        guard let (favourite, album) = change else {
            return noticeboard.show("The favourite or the album has already been removed.", isError: true)
        }
        noticeboard.show(text(favourite.picture.title, album.name))
    }

    /// Removes an album.
    ///
    /// - Parameters:
    ///   - id: The album's identifier.
    ///   - includesFavourites: Whether its favourites are removed as well, except for those in other albums.
    func removeAlbum(id: Album.ID, includingFavourites includesFavourites: Bool) async {
        await attempt("The album could not be removed") {
            let removal = try await controllers.albums.remove(id: id, includingFavourites: includesFavourites)
            guard let removal, let name = removal.album?.name else {
                return noticeboard.show("This album has already been removed.")
            }
            let what =
                switch removal.favourites.count {
                case 0: "The album “\(name)” was removed."
                case 1: "The album “\(name)” and one favourite were removed."
                case let count: "The album “\(name)” and \(count) favourites were removed."
                }
            noticeboard.show(what, offersUndo: true)
        }
    }
}
