/// The positions of the items in the engines of which mirrors consist, a range for each of them, so that what one has
/// begun is continued by it.
///
/// A mirror does not know whether its engines are mirrors, too, because other wrappers can be between. So the number of
/// a range is a path in binary digits: the lowest one tells whether the outermost mirror has read its base, 0, or its
/// copy, 1; the digits above are the number that this engine has chosen itself. Range 0, of an engine that is no copy
/// of any other, has the positions as they are, and the others are below it.
enum MirrorPosition {
    private static let width = 1 << 54
    private static let greatestRange = 511

    /// The number of the range of a position.
    static func range(of position: Int) -> Int {
        position < 0 && position != .min ? -((position + width / 2) >> 54) : 0
    }

    /// Whether a position is one of the mirror's items, or else of the base's.
    static func isOfMirror(_ position: Int) -> Bool { range(of: position) & 1 == 1 }

    /// The position in a mirror of an item with a position in one of its engines.
    ///
    /// - Throws: A ``StorageError`` if there are too many mirrors inside of each other.
    static func outer(_ position: Int, isOfMirror: Bool) throws -> Int {
        let range = range(of: position)
        let outer = range << 1 | (isOfMirror ? 1 : 0)
        guard outer <= greatestRange else {
            throw StorageError(.invalidArgument, "At most nine mirrors can be inside of each other.")
        }
        return position - (outer - range) * width
    }

    /// The position in the engine that has the item.
    static func inner(_ position: Int) -> Int {
        let range = range(of: position)
        return position + (range - range >> 1) * width
    }
}

extension StorageScan {
    /// The scan in the engine of a mirror that has begun it.
    var ofMirroredEngine: StorageScan {
        if case .all(let position?) = self { .all(after: MirrorPosition.inner(position)) } else { self }
    }
}
