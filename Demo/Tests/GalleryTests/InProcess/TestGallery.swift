import Bodega
import BodegaTesting
import Boutique
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging

@testable import Gallery

/// Engines that a test can look into and let fail.
typealias FaultyMemory = FaultInjectingStorageEngine<MemoryStorageEngine>

/// A gallery without a process of its own: engines in memory, and an API that the test decides about.
struct TestGallery: Sendable {
    let favourites = FaultyMemory(MemoryStorageEngine())
    let easel = FaultyMemory(MemoryStorageEngine())
    let images = FaultyMemory(MemoryStorageEngine())
    /// Where the API is instead of where it listens.
    let detour = Detour()
    /// The values of this folder's name are in the user's folders, so they are made to be harmless.
    private let suite = "emporium-gallery-tests"

    /// The controllers on these engines, as after a start.
    @MainActor
    func controllers(apiAt address: String = "http://127.0.0.1:1") -> GalleryControllers {
        let storage = GalleryStorage(
            favourites: favourites, easel: easel, images: images, secrets: MemorySecretStorage(), defaultsSuite: suite)
        // A busy machine is no defect.
        let connection = PictureAPIConnection(
            address: { detour.address ?? address }, isOn: { true }, setOn: { _ in }, timeLimit: .seconds(180))
        // What is shown stays until the test has seen it.
        return GalleryControllers(
            storage: storage, connection: connection, noticeboard: Noticeboard(time: .seconds(1_000_000)),
            logger: Logger(label: "tests"))
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
                controllers, templates: try await Templates(), heartbeat: .milliseconds(100), lookout: .milliseconds(50)
            )
            let application = Application(responder: await routes.router().buildResponder())
            try await application.test(setUp) { client in try await body(client, controllers) }
        }
    }

    /// The keys of the images that are stored.
    func imageKeys() async throws -> Set<String> {
        Set(try await images.base.fetchKeys().map(\.value))
    }
}

/// Leads away from an API, as if that had gone.
final class Detour: @unchecked Sendable {
    // @unchecked because every access to `value` holds `lock`.
    private let lock = NSLock()
    private var value: String?

    /// Where it leads, `nil` for nowhere else.
    var address: String? {
        get { lock.withLock { value } }
        set { lock.withLock { value = newValue } }
    }
}

extension Exhibit {
    /// An exhibit whose image has been stored.
    static func stored(_ id: String, image: String? = nil, in images: ImageStore) async throws -> Exhibit {
        let picture = Picture(
            id: id, title: "Picture \(id)", style: "stub", algorithm: "By hand", palette: "Grey", colors: ["#808080"],
            width: 4, height: 3, seed: "1", isForMembers: false)
        return Exhibit(picture: picture, image: try await images.add(Data((image ?? "<svg>\(id)</svg>").utf8)))
    }
}
