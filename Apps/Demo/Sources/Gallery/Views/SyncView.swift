import BodegaSync
import Foundation

/// The state of the synchronization, at the top of each page.
struct SyncView: Sendable {
    /// The name of this device.
    let device: String
    let isOn: Bool
    let text: String
    let kind: Kind
    /// The link to the conflicts, `nil` if there are none and nothing was refused.
    let decisions: String?
    /// The server, `nil` until its state is known.
    let server: Server?

    /// The state of the server.
    struct Server: Sendable {
        let isOn: Bool
    }

    /// The kind of state, which is a class of the stylesheet.
    enum Kind: String, Sendable {
        case settled, waiting, offline, paused, refused
    }
}

extension SyncView {
    /// Reads the values from the controller.
    @MainActor
    init(_ sync: SyncController) {
        (device, isOn) = (sync.device.capitalized, sync.isOn)
        (text, kind) = Self.state(sync.status, waiting: sync.waiting, refused: sync.refusals.count)
        server = sync.serverIsOn.map(Server.init)
        decisions =
            switch (sync.conflicts.count, sync.refusals.count) {
            case (0, 0): nil
            case (0, _): "Decide"
            case (1, _): "1 conflict"
            case (let count, _): "\(count) conflicts"
            }
    }

    /// What is shown about a state.
    ///
    /// - Parameters:
    ///   - status: The state.
    ///   - waiting: The number of changes that wait.
    ///   - refused: The number of changes that the server refuses.
    static func state(_ status: SyncStatus, waiting: Int, refused: Int) -> (text: String, kind: Kind) {
        let waits: String? =
            switch waiting {
            case 0: nil
            case 1: "1 change waits"
            default: "\(waiting) changes wait"
            }
        func joined(_ text: String) -> String { [text, waits].compactMap(\.self).joined(separator: " · ") }
        if status.isPaused { return (joined("Switched off"), .paused) }
        if status.needsCredentials { return (joined("The server refuses the token"), .refused) }
        if status.failure != nil { return (joined("Offline"), .offline) }
        if refused > 0 { return (refused == 1 ? "1 change was refused" : "\(refused) changes were refused", .refused) }
        if let waits { return (waits, .waiting) }
        return status.isSettled ? ("Everything is up to date", .settled) : ("Synchronizing…", .waiting)
    }
}
