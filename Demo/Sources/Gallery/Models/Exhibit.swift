/// A picture on the easel, and where its bytes are.
struct Exhibit: Codable, Hashable, Sendable {
    let picture: Picture
    let image: ImageKey
}
