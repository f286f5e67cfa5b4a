/// Chooses which picture comes next.
actor Chooser {
    private var generator: SeededGenerator
    private var last: String?

    /// Creates a chooser.
    ///
    /// - Parameter seed: Makes the sequence of pictures the same each time; `nil` for another one each time.
    init(seed: UInt64?) {
        generator = SeededGenerator(seed: seed ?? .random(in: 0 ... .max))
    }

    /// Chooses a picture, never twice in a row in the same style.
    ///
    /// - Parameter isMember: Whether the styles for members count.
    func next(isMember: Bool) -> Artwork.ID {
        let names = styles.filter { isMember || !$0.isForMembers }.map(\.name)
        let style = generator.pick(names.filter { $0 != last })
        last = style
        return Artwork.ID(style: style, seed: generator.next())
    }
}
