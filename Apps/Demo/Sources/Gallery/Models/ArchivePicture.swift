import Bodega
import Foundation

/// A picture of the archive. The archive has 100,000 of them, too many for a store, so that pages show windows.
struct ArchivePicture: Codable, Hashable, Sendable, Identifiable {
    /// The identifier; see ``Picture/isValidID(_:)``.
    let id: String
    let title: String
    /// The title in lower case, by which pictures are sorted.
    let sortTitle: String
    let colour: Colour
    let tags: [String]
    let paintedAt: Date
    let width: Int
    let height: Int
    /// The number of users who like it.
    var likes: Int
    /// Determines the sketch of the picture.
    let seed: UInt32

    /// The main colour of a picture.
    enum Colour: String, Codable, CaseIterable, Sendable {
        case red, orange, yellow, green, teal, blue, violet, grey
    }
}

extension ArchivePicture: Queryable {
    static let indexes = [
        Index("sortTitle", \ArchivePicture.sortTitle), Index("colour", \ArchivePicture.colour),
        Index("paintedAt", \ArchivePicture.paintedAt), Index("likes", \ArchivePicture.likes),
    ]
    static let searchable = [Searchable("title", \ArchivePicture.title)]
}

extension ArchivePicture {

    /// The key of the record.
    var key: CacheKey { Self.key(id) }

    /// The key of the record with an identifier.
    static func key(_ id: String) -> CacheKey { CacheKey(verbatim: id) }

    /// Creates the picture with a number. The same number always gives the same picture.
    init(number: Int) {
        var choices = Choices(state: UInt64(number))
        let subject = choices.pick(Self.subjects)
        let scene = choices.pick(Self.scenes)
        let words = [choices.pick(Self.adjectives), subject, scene].filter { !$0.isEmpty }
        // From 1900, most pictures with few likes.
        let paintedAt = Date(timeIntervalSince1970: Double(choices.number(below: 125 * 31_556_952)) - 2_208_988_800)
        let fame = choices.number(below: 1_000)
        self.init(
            id: "archive-\(number)", title: words.joined(separator: " "), colour: choices.pick(Colour.allCases),
            tags: [subject.lowercased(), choices.pick(Self.techniques)], paintedAt: paintedAt,
            width: 10 * (30 + choices.number(below: 90)), height: 10 * (30 + choices.number(below: 90)),
            likes: fame * fame / 1_000, seed: UInt32(truncatingIfNeeded: choices.next()))
    }

    init(
        id: String, title: String, colour: Colour, tags: [String], paintedAt: Date, width: Int, height: Int, likes: Int,
        seed: UInt32
    ) {
        (self.id, self.title, sortTitle) = (id, title, title.lowercased())
        (self.colour, self.tags, self.paintedAt) = (colour, tags, paintedAt)
        (self.width, self.height, self.likes, self.seed) = (width, height, likes, seed)
    }

    private static let adjectives = [
        "Amber", "Ancient", "Autumn", "Blue", "Bright", "Broken", "Calm", "Crooked", "Distant", "Drifting", "Early",
        "Empty", "Faded", "Frozen", "Gentle", "Golden", "Green", "Hidden", "Hollow", "Last", "Late", "Little", "Lonely",
        "Long", "Lost", "Northern", "Old", "Open", "Pale", "Quiet", "Red", "Restless", "Silent", "Silver", "Sleeping",
        "Summer", "Tall", "Violet", "Wandering", "White", "Wild", "Winter",
    ]
    private static let subjects = [
        "Bridge", "Garden", "Harbour", "Hills", "House", "Island", "Lake", "Lantern", "Market", "Meadow", "Mill",
        "Mountain", "Orchard", "Path", "Pines", "River", "Road", "Roofs", "Sails", "Shore", "Station", "Street",
        "Tower", "Valley", "Village", "Vineyard", "Waves", "Window", "Woods", "Workshop",
    ]
    private static let scenes = [
        "", "", "after Rain", "at Dawn", "at Dusk", "at Noon", "at Night", "before the Storm", "by the Sea",
        "from Above",
        "in April", "in Fog", "in Moonlight", "in October", "in Snow", "in the Sun", "in the Wind", "near the Coast",
        "seen from Afar", "under Clouds",
    ]
    private static let techniques = [
        "charcoal", "collage", "etching", "gouache", "ink", "linocut", "oil", "pastel", "tempera", "watercolour",
    ]
}

/// Choices that depend on a seed only: SplitMix64 by Steele, Lea and Flood, 2014.
struct Choices {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to a limit.
    mutating func number(below limit: Int) -> Int { Int(next() % UInt64(limit)) }

    /// An element of an array, which must not be empty.
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(below: elements.count)] }
}
