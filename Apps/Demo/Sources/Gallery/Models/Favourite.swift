import Foundation

/// A picture that the user wants to keep. The store holds everything except the bytes, which may be large.
struct Favourite: Codable, Hashable, Sendable, Identifiable {
    let picture: Picture
    /// The key of the bytes.
    let image: ImageKey
    let addedAt: Date

    var id: String { picture.id }

    /// The name of the favourites' collection in the database.
    static let collection = "favourites"
}
