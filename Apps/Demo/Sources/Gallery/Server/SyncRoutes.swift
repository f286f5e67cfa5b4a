import Bodega
import BodegaSync
import Foundation
import Hummingbird

/// The routes of a gallery that is synchronized.
struct SyncRoutes: Sendable {
    let pages: Pages
    let actions: SyncActions

    /// Adds the routes.
    func add(to router: Router<GalleryRequestContext>) {
        router.page("/conflicts") { _, _ in try await pages.conflicts() }
        router.action("/conflicts/{id}/keep") { _, context in await actions.keep(try context.conflictID()) }
        router.action("/conflicts/{id}/use") { request, context in
            let form = try await request.decode(as: Forms.VersionChoice.self, context: context)
            await actions.use(form.version, of: try context.conflictID())
        }
        router.action("/sync/on") { _, _ in await actions.setOn(true) }
        router.action("/sync/off") { _, _ in await actions.setOn(false) }
        router.action("/sync/server/on") { _, _ in await actions.setServerOn(true) }
        router.action("/sync/server/off") { _, _ in await actions.setServerOn(false) }
        router.action("/sync/retry") { _, _ in await actions.retryRefusals() }
        router.action("/sync/discard") { _, _ in await actions.discardRefusals() }
    }
}

extension RequestContext {
    /// The identifier of a conflict in the path.
    ///
    /// - Throws: 404 if it is not a valid identifier.
    fileprivate func conflictID() throws -> StoredConflict.ID {
        guard let id = UUID(uuidString: try parameters.require("id")) else { throw HTTPError(.notFound) }
        return id
    }
}
