/// A picture on the easel and the key of its bytes.
struct Exhibit: Codable, Hashable, Sendable {
    let picture: Picture
    let image: ImageKey
}
