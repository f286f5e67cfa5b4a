import Boutique
import Foundation

struct RemoteImage: Codable, Sendable, Equatable, Identifiable {
    let createdAt: Date
    let url: URL
    let width: Float
    let height: Float
    let imageData: Data

    var id: String { url.absoluteString }
}

extension Store where Item == RemoteImage {

    // Initialize a Store to save our images into
    static let imagesStore = Store<RemoteImage>(
        storage: SQLiteStorageEngine.default(appendingPath: "Images")
    )

}

/// The section "The Magic of @Stored", without the request that fetches an image.
final class ImagesController: ObservableObject {

    /// Creates a @Stored property to handle an in-memory and on-disk cache of images.
    @Stored(in: .imagesStore) var images

    /// Saves an image to the `Store` in memory and on disk.
    func saveImage(image: RemoteImage) async throws {
        try await self.$images.add(image)
    }

    /// Removes one image from the `Store` in memory and on disk.
    func removeImage(image: RemoteImage) async throws {
        try await self.$images.remove(image)
    }

    /// Removes all of the images from the `Store` in memory and on disk.
    func clearAllImages() async throws {
        try await self.$images.removeAll()
    }

}

@MainActor
func saveImages() async throws {
    let controller = ImagesController()
    let images = ["a", "b", "c"].compactMap(image)
    try await controller.saveImage(image: images[2])
    try await controller.clearAllImages()
    for image in images { try await controller.saveImage(image: image) }
    try await controller.removeImage(image: images[1])
    print(controller.images.map(\.id))
}

@MainActor
func printImages() async throws {
    let controller = ImagesController()
    try await controller.$images.itemsHaveLoaded()
    print(controller.images.map(\.id))
}

private func image(_ name: String) -> RemoteImage? {
    URL(string: "https://image.redpanda.club/\(name)").map {
        RemoteImage(createdAt: .now, url: $0, width: 1, height: 1, imageData: Data(name.utf8))
    }
}
