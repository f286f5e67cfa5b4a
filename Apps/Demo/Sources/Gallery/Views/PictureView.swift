/// A picture in the form that templates use.
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
    /// A description for visitors who cannot see the picture.
    let description: String

    /// A colour and its position.
    struct Swatch: Sendable {
        let x: Int
        let color: String
    }

    /// Creates a view.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - key: The key of its bytes.
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
