import Foundation
import Hummingbird

/// The description of a picture.
struct ArtworkDescription: ResponseCodable {
    let id: String
    let title: String
    let style: String
    let algorithm: String
    let palette: String
    let colors: [String]
    let width: Int
    let height: Int
    let seed: String
    let isForMembers: Bool
    /// The path of the picture on the same server.
    let image: String

    /// Describes a picture.
    init(_ artwork: Artwork) {
        id = artwork.id.description
        title = artwork.title
        style = artwork.style.name
        algorithm = artwork.style.algorithm
        palette = artwork.palette.name
        colors = artwork.palette.colors.map(\.description)
        width = Int(Canvas.width)
        height = Int(Canvas.height)
        seed = artwork.id.seedText
        isForMembers = artwork.style.isForMembers
        image = "/v1/pictures/\(artwork.id).svg"
    }
}
