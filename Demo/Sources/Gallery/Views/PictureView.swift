/// A picture as templates show it.
struct PictureView: Sendable {
    let id: String
    let image: String
    let title: String
    let style: String
    let algorithm: String
    let palette: String
    let colors: [Swatch]
    let colorsWidth: Int
    let width: Int
    let height: Int
    let seed: String
    let isForMembers: Bool
    /// What there is to see, for those who don't.
    let description: String

    /// A colour, and where it is drawn.
    struct Swatch: Sendable {
        let x: Int
        let color: String
    }

    /// Shows a picture.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - key: Where its bytes are.
    init(_ picture: Picture, _ key: ImageKey) {
        id = picture.id
        image = key.text
        title = picture.title
        style = picture.style
        algorithm = picture.algorithm
        palette = picture.palette
        colors = picture.colors.enumerated().map { Swatch(x: 8 + 20 * $0, color: $1) }
        colorsWidth = 20 * picture.colors.count - 4
        width = picture.width
        height = picture.height
        seed = picture.seed
        isForMembers = picture.isForMembers
        description = "a picture in the style “\(picture.style)” and the colours “\(picture.palette)”"
    }
}
