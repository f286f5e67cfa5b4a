import Bodega
import Boutique
import Logging

/// The actions of the pages. Each action shows its outcome on the noticeboard.
@MainActor
struct GalleryActions {
    let controllers: GalleryControllers

    var noticeboard: Noticeboard { controllers.noticeboard }

    // MARK: The easel

    /// Fetches another picture.
    func showAnother() async {
        // Not at the end: by then, a notice may be about a later action.
        noticeboard.clear()
        let session = controllers.account.session
        await attempt("Another picture could not be fetched") {
            do {
                try await controllers.easel.showAnother(session)
            } catch PictureAPIError.signedOut {
                guard try controllers.account.forget(session) else { return }
                noticeboard.show("Your session with the API has ended. Please sign in again.", isError: true)
            }
        }
    }

    // MARK: Favourites

    /// Adds the picture on the easel to the favourites.
    ///
    /// - Parameter id: The picture that the page has shown. Another one may be on the easel by now.
    func addFavourite(id: String) async {
        guard let exhibit = controllers.easel.exhibit, exhibit.picture.id == id else {
            return noticeboard.show("The picture on the easel has changed. Please try again.", isError: true)
        }
        let title = exhibit.picture.title
        await attempt("“\(title)” could not be added") {
            switch try await controllers.favourites.add(exhibit) {
            case .added: noticeboard.show("“\(title)” is now a favourite.")
            case .wasThere: noticeboard.show("“\(title)” is already a favourite.")
            case .isFull:
                let limit = FavouritesController.limit
                noticeboard.show(
                    "You have \(limit) favourites, which is the maximum. Remove some first.", isError: true)
            case .isGone: noticeboard.show("The picture on the easel has changed. Please try again.", isError: true)
            }
        }
    }

    /// Removes a favourite.
    func removeFavourite(id: String) async {
        await attempt("The favourite could not be removed") {
            if let favourite = try await controllers.favourites.remove(id: id) {
                noticeboard.show("“\(favourite.picture.title)” is no longer a favourite.", offersUndo: true)
            } else {
                noticeboard.show("This favourite has already been removed.")
            }
        }
    }

    /// Removes all favourites.
    func removeAllFavourites() async {
        await attempt("The favourites could not be removed") {
            switch try await controllers.favourites.removeAll() {
            case 0: noticeboard.show("There were no favourites.")
            case 1: noticeboard.show("One favourite was removed.", offersUndo: true)
            case let count: noticeboard.show("All \(count) favourites were removed.", offersUndo: true)
            }
        }
    }

    /// Restores what was removed last: favourites, or an album.
    func undo() async {
        await attempt("Nothing could be restored") {
            let restored = try await controllers.removals.undo()
            switch (restored.album?.name, restored.favourites.count) {
            case (nil, 0): noticeboard.show("There is nothing to restore.")
            case (nil, 1): noticeboard.show("The favourite was restored.")
            case (nil, let count): noticeboard.show("\(count) favourites were restored.")
            case (let name?, 0): noticeboard.show("The album “\(name)” was restored.")
            case (let name?, 1): noticeboard.show("The album “\(name)” and its favourite were restored.")
            case (let name?, let count):
                noticeboard.show("The album “\(name)” and \(count) favourites were restored.")
            }
        }
    }

    /// Loads the favourites and the albums again after a failure.
    func reload() async {
        noticeboard.clear()
        await attempt("The favourites and albums could still not be loaded") {
            try await controllers.favourites.$favourites.reload()
            try await controllers.albums.$albums.reload()
        }
    }

    // MARK: The archive

    /// Adds a picture to the archive.
    func addToArchive(title: String) async {
        guard let title = text(title, "A title", limit: 60) else { return }
        await attempt("“\(title)” could not be added") {
            try await controllers.archive.add(title: title)
            noticeboard.show("“\(title)” is in the archive.")
        }
    }

    /// Adds one to the likes of a picture of the archive.
    func likeInArchive(id: String) async {
        await attempt("The picture could not be changed") {
            if try await controllers.archive.like(id) == nil {
                noticeboard.show("This picture has been removed.")
            }
        }
    }

    /// Removes a picture from the archive.
    func removeFromArchive(id: String) async {
        await attempt("The picture could not be removed") { try await controllers.archive.remove(id) }
    }

    // MARK: Settings

    /// Chooses the colours.
    func choose(_ theme: Theme) async {
        await attempt("The theme could not be saved") {
            let value = controllers.preferences.$theme
            value.set(theme)
            if let error = value.lastError { throw error }
        }
    }

    /// Chooses the order.
    func choose(_ order: SortOrder) async {
        await attempt("The order could not be saved") {
            let value = controllers.preferences.$sortOrder
            value.set(order)
            if let error = value.lastError { throw error }
        }
    }

    /// Dismisses the notice.
    func dismissNotice() {
        noticeboard.clear()
    }

    // MARK: The API

    /// Signs in at the API.
    func signIn(name: String, password: String) async {
        guard let name = text(name, "A name", limit: 40) else { return }
        await attempt("You could not be signed in") {
            if try await controllers.account.signIn(name: name, password: password) {
                noticeboard.show("Welcome, \(name). You now get the pictures for members, too.")
            } else {
                noticeboard.show("The password is wrong.", isError: true)
            }
        }
    }

    /// Signs out.
    func signOut() async {
        await attempt("You could not be signed out") {
            try await controllers.account.signOut()
            noticeboard.show("You are signed out.")
        }
    }

    /// Switches the API on or off and checks whether it responds.
    func switchAPI(on isOn: Bool) async {
        do {
            try await controllers.connection.setOn(isOn)
        } catch {
            controllers.logger.error("The API could not be switched.", metadata: ["error": "\(error)"])
            noticeboard.show("The API could not be switched \(isOn ? "on" : "off").", isError: true)
        }
        await checkAPI()
    }

    /// Checks whether the API responds. The page shows the result.
    func checkAPI() async {
        do {
            try await controllers.availability.observe { () throws(PictureAPIError) in
                try await controllers.api.check()
            }
        } catch {
            controllers.logger.notice("The API does not respond.", metadata: ["error": "\(error)"])
        }
    }

    // MARK: Texts

    /// A text of a form without superfluous spaces; `nil`, with a notice, if it is empty or too long.
    func text(_ text: String, _ what: String, limit: Int) -> String? {
        let text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        // A single character can have any number of bytes.
        if (1...limit).contains(text.count), text.utf8.count <= Self.byteLimit { return text }
        noticeboard.show(
            "\(what) must have 1 to \(limit) characters and at most \(Self.byteLimit) bytes.", isError: true)
        return nil
    }

    /// The maximum size of a text, in bytes.
    private static let byteLimit = 200

    // MARK: Failures

    func attempt(_ failure: String, _ action: () async throws -> Void) async {
        do {
            try await action()
        } catch PictureAPIError.unreachable {
            noticeboard.show(
                "\(failure): the API does not respond. Your favourites are still available.", isError: true)
        } catch PictureAPIError.unexpected(let what) {
            controllers.logger.warning("The API has sent an invalid response.", metadata: ["what": "\(what)"])
            noticeboard.show("\(failure): the API has sent an invalid response.", isError: true)
        } catch let error as StorageError {
            controllers.logger.error("\(failure).", metadata: ["error": "\(error)"])
            noticeboard.show("\(failure): \(error.message)", isError: true)
        } catch {
            controllers.logger.error("\(failure).", metadata: ["error": "\(error)"])
            noticeboard.show("\(failure). See the program’s log for the reason.", isError: true)
        }
    }
}
