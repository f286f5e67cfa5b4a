/// Chooses the next picture.
actor Chooser {
    private var generator: SeededGenerator
    private var last: String?

    /// Creates a chooser.
    ///
    /// - Parameter seed: The seed of the sequence of pictures; `nil` for a random sequence.
    init(seed: UInt64?) {
        generator = SeededGenerator(seed: seed ?? .random(in: 0 ... .max))
    }

    /// Chooses a picture. Two consecutive pictures never have the same style.
    ///
    /// - Parameter isMember: Whether to include the styles for members.
    func next(isMember: Bool) -> Artwork.ID {
        let names = styles.filter { isMember || !$0.isForMembers }.map(\.name)
        let style = generator.pick(names.filter { $0 != last })
        last = style
        return Artwork.ID(style: style, seed: generator.next())
    }
}
