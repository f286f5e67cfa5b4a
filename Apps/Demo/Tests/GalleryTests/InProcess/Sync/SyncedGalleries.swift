import Bodega
import BodegaSync
import BodegaTesting
import Boutique
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import Testing

@testable import Gallery

/// Two in-process galleries that synchronize with a server in memory. A test can make the server fail.
@MainActor
final class SyncedGalleries {
    let laptop: GalleryControllers
    let phone: GalleryControllers
    /// The engines of the server.
    let server: [String: FaultyMemory]
    /// The images that are on the laptop only.
    let laptopImages: any StorageEngine
    private let syncs: [StorageSync]
    /// The number of galleries so far. Each has a suite of user defaults of its own, which the next run uses again.
    private static var count = 0
    private var tasks: [Task<Void, Never>] = []

    /// Creates galleries that do not synchronize yet.
    init() async throws {
        let database = MemoryStorageEngine()
        let names = SyncedCollections.names
        let server = Dictionary(uniqueKeysWithValues: names.map { ($0, FaultyMemory(database.collection(named: $0))) })
        self.server = server
        let file = MemoryStorageEngine()
        laptopImages = file.collection(named: "images")
        let laptop = try await Self.storage("laptop", file, server)
        let phone = try await Self.storage("phone", MemoryStorageEngine(), server)
        syncs = [laptop, phone].compactMap { $0.device?.sync }
        (self.laptop, self.phone) = (Self.controllers(laptop), Self.controllers(phone))
        for controllers in both { controllers.sync?.$isOn.set(true) }
    }

    deinit { for task in tasks { task.cancel() } }

    private static func storage(
        _ device: String, _ file: MemoryStorageEngine, _ server: [String: FaultyMemory]
    ) async throws -> GalleryStorage {
        count += 1
        return try await GalleryStorage(
            device: device, { file.collection(named: $0) },
            server: SyncConnection(
                collection: { name in
                    guard let engine = server[name] else { throw StorageError(.cannotOpen, "There is no \(name).") }
                    return engine
                },
                isOn: { true }, setOn: { _ in }),
            secrets: MemorySecretStorage(), defaultsSuite: "emporium-gallery-tests-\(count)")
    }

    private static func controllers(_ storage: GalleryStorage) -> GalleryControllers {
        let connection = PictureAPIConnection(
            address: { "http://127.0.0.1:1" }, isOn: { true }, setOn: { _ in }, timeLimit: .seconds(180))
        return GalleryControllers(
            storage: storage, connection: connection, noticeboard: Noticeboard(time: .seconds(1_000_000)),
            archiveSize: 10, logger: Logger(label: "tests"))
    }

    /// Both galleries.
    var both: [GalleryControllers] { [laptop, phone] }

    /// The albums that each shows.
    var shownAlbums: [[String]] { both.map { $0.shownAlbums } }

    /// Begins to synchronize.
    func begin() async throws {
        for controllers in both {
            await controllers.open()
            tasks.append(Task { await controllers.sync?.run() })
        }
        try await settle()
    }

    /// Waits until both have the same, and nothing waits.
    func settle() async throws {
        // The first one again, for what the second one has sent.
        for sync in syncs + syncs.prefix(1) { try await sync.settled() }
        await wait { laptop, phone in
            [laptop, phone].allSatisfy { controllers in
                controllers.sync.map { $0.status.isSettled && $0.waiting == 0 } ?? false
            } && laptop.contents == phone.contents
        }
    }

    /// Waits until a condition is met.
    func wait(
        _ condition: @MainActor (_ laptop: GalleryControllers, _ phone: GalleryControllers) -> Bool
    ) async {
        let deadline = ContinuousClock.now + .seconds(180)
        while !condition(laptop, phone) {
            await Task.yield()
            if ContinuousClock.now < deadline { continue }
            let state = both.map { "\($0.contents) \($0.sync?.waiting ?? 0) \(String(describing: $0.sync?.status))" }
            Issue.record("Timed out: \(state.joined(separator: "\n"))")
            return
        }
    }

    /// Switches both devices.
    func setOn(_ isOn: Bool) async throws {
        for controllers in both { try await controllers.sync?.setOn(isOn) }
    }

    /// Switches the devices on, the second one when the first one has sent its changes, and waits until they agree.
    func settleOneByOne(phoneFirst isPhoneFirst: Bool = false) async throws {
        let devices = zip(both, syncs)
        for (controllers, sync) in isPhoneFirst ? devices.reversed() : Array(devices) {
            try await controllers.sync?.setOn(true)
            try await sync.settled()
        }
        try await settle()
    }

    /// Adds a favourite with a one-letter identifier.
    func add(_ id: String, _ controllers: GalleryControllers) async throws {
        _ = try await controllers.favourites.add(.stored(id, in: controllers.images))
    }

    /// The images of favourites that the server has, in texts.
    func serverImages() async throws -> Set<String> {
        let data = try await server[SyncedCollections.images]?.base.fetchAllData() ?? []
        return Set(data.map { String(decoding: $0, as: UTF8.self) })
    }
}

extension GalleryControllers {
    /// The favourites with their images' keys, and the albums.
    var contents: Set<String> {
        Set(favourites.favourites.map { "\($0.id) \($0.image.text)" })
            .union(albums.albums.map { "\($0.id) \($0.name) \($0.favouriteIDs)" })
    }

    /// The names of the albums and their contents, in order.
    var shownAlbums: [String] { albums.albums.map { "\($0.name): \($0.favouriteIDs.joined())" }.sorted() }

    /// The identifiers of the favourites, in order.
    var shownFavourites: String { favourites.favourites.map(\.id).sorted().joined() }
}
