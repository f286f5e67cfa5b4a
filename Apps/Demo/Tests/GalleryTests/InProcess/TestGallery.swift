import Bodega
import BodegaTesting
import Boutique
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging

@testable import Gallery

/// Engines that a test can inspect and make fail.
typealias FaultyMemory = FaultInjectingStorageEngine

/// An in-process gallery on in-memory engines, with an API that the test controls.
struct TestGallery: Sendable {
    let favourites: FaultyMemory
    /// In one database with the favourites.
    let albums: FaultyMemory
    let easel = FaultyMemory(MemoryStorageEngine())
    let images = FaultyMemory(MemoryStorageEngine())
    let archive = MemoryStorageEngine()
    let archiveProgress = FaultyMemory(MemoryStorageEngine())
    /// The number of pictures that the archive gets.
    static let archiveSize = 300
    /// Redirects requests for the API to another address.
    let detour = Detour()
    /// A suite of user defaults that only the tests use.
    private let suite = "emporium-gallery-tests"

    init() {
        let database = MemoryStorageEngine()
        favourites = FaultyMemory(database.collection(named: Favourite.collection))
        albums = FaultyMemory(database.collection(named: "albums"))
    }

    /// The controllers on these engines, as after a start of the program.
    @MainActor
    func controllers(apiAt address: String = "http://127.0.0.1:1") -> GalleryControllers {
        let storage = GalleryStorage(
            favourites: favourites, albums: albums, easel: easel, images: images, archive: archive,
            archiveProgress: archiveProgress, secrets: MemorySecretStorage(), defaultsSuite: suite)
        // The limit is long, so that a busy machine does not fail a test.
        let connection = PictureAPIConnection(
            address: { detour.address ?? address }, isOn: { true }, setOn: { _ in }, timeLimit: .seconds(180))
        // Notices stay until the test has seen them.
        return GalleryControllers(
            storage: storage, connection: connection, noticeboard: Noticeboard(time: .seconds(1_000_000)),
            archiveSize: Self.archiveSize, logger: Logger(label: "tests"))
    }

    /// Runs a body with a client of the gallery's routes.
    func run(
        _ api: StubAPI = StubAPI(),
        _ setUp: TestingSetup = .router,
        _ body: @escaping @Sendable (any TestClientProtocol, GalleryControllers) async throws -> Void
    ) async throws {
        try await api.run { address in
            let controllers = await controllers(apiAt: address)
            await controllers.open()
            let routes = GalleryRoutes(
                controllers, templates: try await Templates(), heartbeat: .milliseconds(100),
                checkInterval: .milliseconds(50)
            )
            let application = Application(responder: await routes.router().buildResponder())
            try await application.test(setUp) { client in try await body(client, controllers) }
        }
    }

    /// The keys of the stored images.
    func imageKeys() async throws -> Set<String> {
        Set(try await images.base.fetchKeys().map(\.value))
    }
}

/// Replaces the address of an API, as if the API had gone.
final class Detour: @unchecked Sendable {
    // @unchecked because every access to `value` holds `lock`.
    private let lock = NSLock()
    private var value: String?

    /// The replacement, `nil` for none.
    var address: String? {
        get { lock.withLock { value } }
        set { lock.withLock { value = newValue } }
    }
}

extension Exhibit {
    /// An exhibit with a stored image.
    static func stored(_ id: String, image: String? = nil, in images: ImageStore) async throws -> Exhibit {
        let picture = Picture(
            id: id, title: "Picture \(id)", style: "stub", algorithm: "By hand", palette: "Grey", colors: ["#808080"],
            width: 4, height: 3, seed: "1", isForMembers: false)
        return Exhibit(picture: picture, image: try await images.add(Data((image ?? "<svg>\(id)</svg>").utf8)))
    }
}
