import Bodega
import Boutique
import Logging

/// What somebody can do on a page. Each action says on the noticeboard what came of it.
@MainActor
struct GalleryActions {
    let controllers: GalleryControllers

    private var noticeboard: Noticeboard { controllers.noticeboard }

    // MARK: The easel

    /// Fetches another picture.
    func showAnother() async {
        // Not in the end: what is said then is of something that was done meanwhile.
        noticeboard.clear()
        let session = controllers.account.session
        await attempt("Another picture could not be fetched") {
            do {
                try await controllers.easel.showAnother(session)
            } catch PictureAPIError.signedOut {
                guard try controllers.account.forget(session) else { return }
                noticeboard.show("The API does not know you any more. Sign in again, please.", isError: true)
            }
        }
    }

    // MARK: Favourites

    /// Makes the picture on show a favourite.
    ///
    /// - Parameter id: The picture that the page has shown. Meanwhile another one can be on show.
    func addFavourite(id: String) async {
        guard let exhibit = controllers.easel.exhibit, exhibit.picture.id == id else {
            return noticeboard.show("Another picture is on show by now. Look again, please.", isError: true)
        }
        let title = exhibit.picture.title
        await attempt("“\(title)” could not be added") {
            switch try await controllers.favourites.add(exhibit) {
            case .added: noticeboard.show("“\(title)” is a favourite now.")
            case .wasThere: noticeboard.show("“\(title)” is a favourite already.")
            case .isFull:
                let limit = FavouritesController.limit
                noticeboard.show(
                    "There are \(limit) favourites, and no room for more. Remove some first.", isError: true)
            case .isGone: noticeboard.show("Another picture is on show by now. Look again, please.", isError: true)
            }
        }
    }

    /// Removes a favourite.
    func removeFavourite(id: String) async {
        await attempt("The favourite could not be removed") {
            if let favourite = try await controllers.favourites.remove(id: id) {
                noticeboard.show("“\(favourite.picture.title)” is no favourite any more.", offersUndo: true)
            } else {
                noticeboard.show("It was removed before.")
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

    /// Brings back what was removed last.
    func undo() async {
        await attempt("It could not be brought back") {
            switch try await controllers.favourites.undo() {
            case 0: noticeboard.show("There is nothing to bring back.")
            case 1: noticeboard.show("It is back.")
            case let count: noticeboard.show("All \(count) are back.")
            }
        }
    }

    /// Reads the favourites again after that has failed.
    func reload() async {
        noticeboard.clear()
        await attempt("The favourites could still not be loaded") {
            try await controllers.favourites.$favourites.reload()
        }
    }

    // MARK: Settings

    /// Chooses the colours.
    func choose(_ theme: Theme) async {
        await attempt("The theme could not be kept") {
            let value = controllers.preferences.$theme
            value.set(theme)
            if let error = value.lastError { throw error }
        }
    }

    /// Chooses the order.
    func choose(_ order: SortOrder) async {
        await attempt("The order could not be kept") {
            let value = controllers.preferences.$sortOrder
            value.set(order)
            if let error = value.lastError { throw error }
        }
    }

    /// Takes the notice away.
    func dismissNotice() {
        noticeboard.clear()
    }

    // MARK: The API

    /// Signs in at the API.
    func signIn(name: String, password: String) async {
        let name = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        // One character can be as long as one likes, in bytes.
        guard (1...40).contains(name.count), name.utf8.count <= 200 else {
            return noticeboard.show("A name has 1 to 40 characters, and no more than 200 bytes.", isError: true)
        }
        await attempt("You could not be signed in") {
            if try await controllers.account.signIn(name: name, password: password) {
                noticeboard.show("Welcome, \(name). You get the pictures for members, too.")
            } else {
                noticeboard.show("The password is wrong.", isError: true)
            }
        }
    }

    /// Signs out.
    func signOut() async {
        await attempt("You could not be signed out") {
            try await controllers.account.signOut()
            noticeboard.show("You are signed out, and your token is gone.")
        }
    }

    /// Switches the API off or on, and looks whether it answers.
    func switchAPI(on isOn: Bool) async {
        do {
            try await controllers.connection.setOn(isOn)
        } catch {
            controllers.logger.error("The API could not be switched.", metadata: ["error": "\(error)"])
            noticeboard.show("The API could not be switched \(isOn ? "on" : "off").", isError: true)
        }
        await checkAPI()
    }

    /// Looks whether the API answers. The page says what it has found.
    func checkAPI() async {
        do {
            try await controllers.availability.observe { () throws(PictureAPIError) in
                try await controllers.api.check()
            }
        } catch {
            controllers.logger.notice("The API does not answer.", metadata: ["error": "\(error)"])
        }
    }

    // MARK: Failures

    private func attempt(_ failure: String, _ action: () async throws -> Void) async {
        do {
            try await action()
        } catch PictureAPIError.unreachable {
            noticeboard.show("\(failure): the API does not answer. Your favourites are still here.", isError: true)
        } catch PictureAPIError.unexpected(let what) {
            controllers.logger.warning("The API has answered with nonsense.", metadata: ["what": "\(what)"])
            noticeboard.show("\(failure): the API has sent something that is of no use.", isError: true)
        } catch let error as StorageError {
            controllers.logger.error("\(failure).", metadata: ["error": "\(error)"])
            noticeboard.show("\(failure): \(error.message)", isError: true)
        } catch {
            controllers.logger.error("\(failure).", metadata: ["error": "\(error)"])
            noticeboard.show("\(failure). The log says why.", isError: true)
        }
    }
}
