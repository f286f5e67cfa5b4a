import HTTPTypes
import Hummingbird
import LocalServer

/// The routes of the gallery.
///
///     GET  /                        the easel and the favourites
///     GET  /favourites/ID           one favourite
///     GET  /albums/ID               an album
///     GET  /archive                 a window over the archive: title=…&colour=…&order=…&shown=…
///     GET  /archive/events          changes, and those of the window, as server-sent events
///     GET  /images/KEY              the bytes of a picture
///     GET  /assets/NAME             a stylesheet, a script or an icon
///     GET  /events                  changes, as server-sent events
///
///     POST /pictures/next           another picture
///     POST /favourites/ID           adds the picture on the easel
///     POST /favourites/ID/remove    removes a favourite
///     POST /favourites/clear        removes all
///     POST /favourites/undo         restores what was removed last
///     POST /favourites/reload       loads the favourites and the albums again after a failure
///     POST /albums                  creates an album: name=…&favourite=ID, or without a favourite
///     POST /albums/ID/name          renames it: name=…
///     POST /albums/ID/remove        removes it: favourites=keep or remove
///     POST /albums/ID/favourites/ID adds a favourite to an album
///     POST /albums/ID/favourites/ID/remove
///     POST /archive                 adds a picture: title=…
///     POST /archive/ID/like         adds one to its likes
///     POST /archive/ID/remove       removes it
///     POST /archive/windows/ID/more shows more pictures in an open window
///     POST /settings/theme          theme=auto, light or dark
///     POST /settings/order          order=newest, oldest or title
///     POST /account/sign-in         name=…&password=…
///     POST /account/sign-out
///     POST /api/on, /api/off        switches the API
///     POST /api/check               checks whether the API responds
///     POST /notice/dismiss
///
/// If the gallery is synchronized:
///
///     GET  /conflicts               the albums that several devices have changed, and what the server refuses
///     POST /conflicts/ID/keep       keeps what is shown
///     POST /conflicts/ID/use        version=local or remote
///     POST /sync/on, /sync/off      switches the synchronization of this device
///     POST /sync/server/on, …/off   switches the server of all devices
///     POST /sync/retry              sends again what the server has refused
///     POST /sync/discard            gives it up
///
/// The response to a form is a redirect to the page that contained it. A script that sends `Prefer: return=minimal`
/// gets 204.
struct GalleryRoutes: Sendable {
    let controllers: GalleryControllers
    let pages: Pages
    let events: EventStream

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - controllers: The controllers that perform the actions.
    ///   - templates: The templates of the pages.
    ///   - heartbeat: The interval of heartbeats to open pages.
    ///   - checkInterval: The interval of checks whether the API responds, while a page is open.
    init(
        _ controllers: GalleryControllers,
        templates: Templates,
        heartbeat: Duration = .seconds(15),
        checkInterval: Duration = .seconds(5)
    ) {
        self.controllers = controllers
        pages = Pages(controllers: controllers, templates: templates)
        events = EventStream(
            controllers: controllers, templates: templates, heartbeat: heartbeat, checkInterval: checkInterval)
    }

    /// The router with all routes.
    func router() async -> Router<GalleryRequestContext> {
        let actions = GalleryActions(controllers: controllers)
        let router = Router(context: GalleryRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: SecurityHeaders())
        router.add(middleware: ProblemPages(pages: pages))
        router.add(middleware: HostGuard())
        router.add(middleware: OriginGuard(allowsPrograms: false))
        addPages(to: router)
        addFavourites(to: router, actions)
        addAlbums(to: router, actions)
        addArchive(to: router, actions)
        addSettings(to: router, actions)
        if let sync = controllers.sync {
            SyncRoutes(pages: pages, actions: SyncActions(sync: sync, actions: actions)).add(to: router)
        }
        return router
    }

    private func addPages(to router: Router<GalleryRequestContext>) {
        router.page("/") { _, _ in await pages.home() }
        router.page("/images/{key}") { _, context in try await pages.image(context.parameters.require("key")) }
        router.page("/assets/{name}") { _, context in try pages.asset(context.parameters.require("name")) }
        router.page("/events") { request, _ in events.response(to: request) }
    }

    private func addFavourites(to router: Router<GalleryRequestContext>, _ actions: GalleryActions) {
        router.action("/pictures/next") { _, _ in await actions.showAnother() }
        router.action("/favourites/clear") { _, _ in await actions.removeAllFavourites() }
        router.action("/favourites/undo") { _, _ in await actions.undo() }
        router.action("/favourites/reload") { _, _ in await actions.reload() }
        router.pageAndAction(
            "/favourites/{id}",
            page: { _, context in try await pages.favourite(context.itemID()) },
            action: { _, context in await actions.addFavourite(id: try context.itemID()) }
        )
        router.action("/favourites/{id}/remove", leavesPage: true) { _, context in
            await actions.removeFavourite(id: try context.itemID())
        }
    }

    private func addAlbums(to router: Router<GalleryRequestContext>, _ actions: GalleryActions) {
        router.action("/albums") { request, context in
            let form = try await request.decode(as: Forms.NewAlbum.self, context: context)
            await actions.createAlbum(name: form.name, with: form.favourite)
        }
        router.page("/albums/{id}") { _, context in try await pages.album(context.itemID()) }
        router.action("/albums/{id}/name") { request, context in
            let form = try await request.decode(as: Forms.NewName.self, context: context)
            await actions.renameAlbum(id: try context.itemID(), to: form.name)
        }
        router.action("/albums/{id}/remove", leavesPage: true) { request, context in
            let form = try await request.decode(as: Forms.AlbumRemoval.self, context: context)
            await actions.removeAlbum(id: try context.itemID(), includingFavourites: form.favourites == .remove)
        }
        router.action("/albums/{id}/favourites/{favourite}") { _, context in
            await actions.addFavourite(try context.itemID("favourite"), toAlbum: try context.itemID())
        }
        router.action("/albums/{id}/favourites/{favourite}/remove") { _, context in
            await actions.removeFavourite(try context.itemID("favourite"), fromAlbum: try context.itemID())
        }
    }

    private func addArchive(to router: Router<GalleryRequestContext>, _ actions: GalleryActions) {
        router.pageAndAction(
            "/archive",
            page: { request, _ in try await pages.archive(ArchiveSearch(request.uri)) },
            action: { request, context in
                let form = try await request.decode(as: Forms.NewPicture.self, context: context)
                await actions.addToArchive(title: form.title)
            }
        )
        router.page("/archive/events") { request, _ in events.response(to: request, in: ArchiveSearch(request.uri)) }
        router.action("/archive/{id}/like") { _, context in
            await actions.likeInArchive(id: try context.itemID())
        }
        router.action("/archive/{id}/remove") { _, context in
            await actions.removeFromArchive(id: try context.itemID())
        }
        router.action("/archive/windows/{id}/more") { _, context in
            guard try await controllers.archive.showMore(in: context.parameters.require("id")) else {
                throw HTTPError(.notFound)
            }
        }
    }

    private func addSettings(to router: Router<GalleryRequestContext>, _ actions: GalleryActions) {
        router.action("/settings/theme") { request, context in
            await actions.choose(try await request.decode(as: Forms.ThemeChoice.self, context: context).theme)
        }
        router.action("/settings/order") { request, context in
            await actions.choose(try await request.decode(as: Forms.OrderChoice.self, context: context).order)
        }
        router.action("/account/sign-in") { request, context in
            let form = try await request.decode(as: Forms.Credentials.self, context: context)
            await actions.signIn(name: form.name, password: form.password)
        }
        router.action("/account/sign-out") { _, _ in await actions.signOut() }
        router.action("/api/on") { _, _ in await actions.switchAPI(on: true) }
        router.action("/api/off") { _, _ in await actions.switchAPI(on: false) }
        router.action("/api/check") { _, _ in await actions.checkAPI() }
        router.action("/notice/dismiss") { _, _ in await actions.dismissNotice() }
    }
}

extension RequestContext {
    /// The identifier of a picture or an album in the path.
    ///
    /// - Throws: 404 if it is not a valid identifier.
    fileprivate func itemID(_ parameter: String = "id") throws -> String {
        let id = try parameters.require(parameter)
        guard Picture.isValidID(id) else { throw HTTPError(.notFound) }
        return id
    }
}
