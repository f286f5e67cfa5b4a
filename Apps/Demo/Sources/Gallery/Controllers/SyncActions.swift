import Bodega
import BodegaSync

/// The actions of the pages of a gallery that is synchronized.
@MainActor
struct SyncActions {
    let sync: SyncController
    let actions: GalleryActions

    private var noticeboard: Noticeboard { actions.noticeboard }

    /// Switches the synchronization of this device on or off.
    func setOn(_ isOn: Bool) async {
        await actions.attempt("The synchronization could not be switched \(isOn ? "on" : "off")") {
            try await sync.setOn(isOn)
        }
    }

    /// Switches the server on or off.
    func setServerOn(_ isOn: Bool) async {
        await actions.attempt("The server could not be switched \(isOn ? "on" : "off")") {
            try await sync.setServerOn(isOn)
        }
    }

    /// Keeps what is shown after a conflict.
    func keep(_ id: AlbumConflict.ID) async {
        await actions.attempt("The conflict could not be removed") {
            noticeboard.show(try await sync.keep(id) ? "It stays so." : Self.isSettled)
        }
    }

    /// Takes a version of an album.
    func use(_ side: MergeSide, of id: AlbumConflict.ID) async {
        await actions.attempt("The version could not be taken") {
            let favourites = actions.controllers.favourites.$favourites
            guard let conflict = try await sync.use(side, of: id, favourites: favourites) else {
                return noticeboard.show(Self.isSettled)
            }
            let device = side == .local ? "this device" : "the other device"
            let name = conflict[side]?.name
            noticeboard.show(
                name.map { "The album “\($0)” is now as on \(device)." } ?? "The album is removed, as on \(device).")
        }
    }

    private static let isSettled = "This conflict has already been settled."

    /// Sends again what the server has refused.
    func retryRefusals() async {
        await actions.attempt("The changes could not be sent again") { try await sync.retryRefusals() }
    }

    /// Gives up what the server has refused.
    func discardRefusals() async {
        await actions.attempt("The changes could not be given up") {
            try await sync.discardRefusals()
            noticeboard.show("The refused changes are given up.")
        }
    }
}
