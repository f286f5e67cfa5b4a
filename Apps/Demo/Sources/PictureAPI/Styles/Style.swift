/// A way to draw pictures.
protocol Style: Sendable {
    /// The name: lower-case letters, part of the pictures' identifiers.
    var name: String { get }
    /// A short description of the algorithm.
    var algorithm: String { get }
    /// Subjects for the titles of its pictures.
    var subjects: [String] { get }
    /// Whether its pictures are for members only.
    var isForMembers: Bool { get }

    /// Draws a picture.
    ///
    /// - Parameters:
    ///   - palette: The colours to use.
    ///   - generator: The source of all other choices.
    /// - Returns: The picture. The same palette and generator give the same picture.
    func draw(_ palette: Palette, _ generator: inout SeededGenerator) -> Canvas
}

extension Style {
    var isForMembers: Bool { false }
}

/// All styles.
let styles: [any Style] = [
    Dunes(), Orbits(), Tiles(), Bloom(), Currents(), Facets(), Aurora(),
]
