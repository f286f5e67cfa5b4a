import Bodega
import BodegaSync
import Boutique
import Foundation
import Logging

/// Synchronizes the favourites and albums of this device with those of others.
///
/// The stores need no code for it: they read and write the database of the device, with or without a network. This
/// controller shows what waits, and what the user has to decide.
@MainActor
final class SyncController {
    /// The name of this device.
    let device: String

    /// Whether the user wants this device to be synchronized.
    @StoredValue<Bool> var isOn: Bool

    /// The state of the synchronization.
    private(set) var status: SyncStatus

    /// The number of favourites and albums with changes that only this device has. An image is a part of its favourite.
    private(set) var waiting = 0

    /// The albums that several devices have changed, the oldest conflict first.
    private(set) var conflicts: [AlbumConflict] = []

    /// The changes that the server refuses.
    private(set) var refusals: [PendingChange] = []

    /// Whether the server is switched on, `nil` until it is known.
    private(set) var serverIsOn: Bool?

    /// Fires when any of these has changed.
    let changes = Signal()

    private let sync: StorageSync
    private let server: SyncConnection
    private let albums: Store<Album>
    private let logger: Logger

    /// Creates a controller. ``run()`` begins to synchronize.
    init(_ device: SyncedDevice, albums: Store<Album>, suite: String, logger: Logger) {
        self.device = device.name
        (sync, server) = (device.sync, device.server)
        status = device.sync.status
        self.albums = albums
        self.logger = logger
        let defaults = UserDefaults(suiteName: suite) ?? .standard
        _isOn = StoredValue(key: "synchronizes", default: true, storage: defaults)
    }

    /// Synchronizes, and follows the state, until the task is cancelled.
    func run() async {
        let (outcomes, updates) = (sync.outcomes, sync.statusUpdates)
        await readConflicts()
        if isOn { await sync.resume() }
        await withTaskGroup { group in
            group.addTask { for await outcome in outcomes where outcome.isConflict { await self.readConflicts() } }
            for await status in updates { await show(status) }
            group.cancelAll()
        }
    }

    /// Switches the synchronization on or off. What the user changes while it is off waits.
    ///
    /// - Throws: An error if the choice could not be stored. Nothing has changed then.
    func setOn(_ isOn: Bool) async throws {
        $isOn.set(isOn)
        if let error = $isOn.lastError { throw error }
        if isOn { await sync.resume() } else { await sync.pause() }
    }

    private func show(_ status: SyncStatus) async {
        do {
            // An outbox that is empty need not be read.
            let pending = status.pending + status.parked > 0 ? try await sync.pending() : []
            refusals = pending.filter { $0.failure != nil }
            waiting = pending.count { change in
                change.failure == nil && change.collection != SyncedCollections.images
            }
        } catch {
            log("The changes that wait could not be read.", error)
        }
        self.status = status
        serverIsOn = await server.isOn()
        changes.send()
    }

    /// Switches the server on or off, for all devices.
    ///
    /// - Throws: An error if it cannot listen.
    func setServerOn(_ isOn: Bool) async throws {
        try await server.setOn(isOn)
        // The device would also notice it itself, later.
        await sync.syncNow()
        await show(sync.status)
    }

    // MARK: Conflicts

    private func readConflicts() async {
        do {
            conflicts = try await sync.conflicts().compactMap(AlbumConflict.init)
        } catch {
            log("The conflicts could not be read.", error)
        }
        changes.send()
    }

    private func log(_ what: Logger.Message, _ error: any Error) {
        // The program ends.
        if Task.isCancelled { return }
        logger.error(what, metadata: ["error": "\(error)"])
    }

    /// Removes a conflict, and keeps what is shown.
    ///
    /// - Returns: Whether there was such a conflict.
    /// - Throws: A `StorageError`. The conflict remains then.
    func keep(_ id: AlbumConflict.ID) async throws -> Bool {
        guard conflicts.contains(where: { $0.id == id }) else { return false }
        try await sync.removeConflict(id)
        await readConflicts()
        return true
    }

    /// Gives an album what one of the versions has, as far as the devices do not agree, and removes the conflict.
    ///
    /// - Returns: The conflict; `nil` if there is no such one.
    /// - Throws: A `StorageError`. The conflict remains then.
    func use(_ side: MergeSide, of id: AlbumConflict.ID, favourites: Store<Favourite>) async throws -> AlbumConflict? {
        guard let conflict = conflicts.first(where: { $0.id == id }) else { return nil }
        try await albums.transaction(with: favourites) { albums, favourites in
            if let album = conflict.resolved(for: side, from: albums[conflict.albumID]) {
                albums.insert(album)
            } else {
                albums.remove(id: conflict.albumID)
            }
        }
        // After the change: if the program is killed in between, the user is asked once more.
        try await sync.removeConflict(id)
        await readConflicts()
        return conflict
    }

    // MARK: Refusals

    /// Sends the changes that the server has refused again.
    ///
    /// - Throws: A `StorageError` if the outbox could not be changed.
    func retryRefusals() async throws {
        for change in try await sync.parked() { try await sync.retry(change.key, in: change.collection) }
    }

    /// Gives up the changes that the server has refused: the items are again as other devices have them.
    ///
    /// - Throws: A `StorageError` if the outbox could not be changed.
    func discardRefusals() async throws {
        for change in try await sync.parked() { try await sync.discard(change.key, in: change.collection) }
    }
}

extension SyncOutcome {
    /// Whether a version was not taken.
    fileprivate var isConflict: Bool {
        if case .merged(let conflict) = kind { !conflict.losses.isEmpty } else { false }
    }
}
