import Foundation

/// A picture that somebody wants to keep. What the store holds: everything but the bytes, which may be large.
struct Favourite: Codable, Hashable, Sendable, Identifiable {
    let picture: Picture
    /// Where the bytes are.
    let image: ImageKey
    let addedAt: Date

    var id: String { picture.id }
}
