/// A type whose version 1 lacks members that version 2 has, and so on.
///
/// A coder's `userInfo` has the version.
struct VersionedNote: Codable, Equatable {
    var title = ""
    var due = Moment(seconds: 0)
    var kind = Kind.plain
    var author: Author?
    var steps: [Step] = []
    var lines: [Line] = []
    var people: Set<Person> = []
    var prices: [Size: Price] = [:]
    // Since version 2.
    var rating: Int?
    // Since version 3.
    var labels: [String: Label] = [:]

    enum CodingKeys: CodingKey { case title, due, kind, author, steps, lines, people, prices, rating, labels }

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        title = try container.decode(String.self, forKey: .title)
        due = try container.decode(Moment.self, forKey: .due)
        kind = try container.decode(Kind.self, forKey: .kind)
        author = try container.decodeIfPresent(Author.self, forKey: .author)
        steps = try container.decode([Step].self, forKey: .steps)
        lines = try container.decode([Line].self, forKey: .lines)
        people = try container.decode(Set<Person>.self, forKey: .people)
        prices = try container.decode([Size: Price].self, forKey: .prices)
        if decoder.version >= 2 { rating = try container.decodeIfPresent(Int.self, forKey: .rating) }
        if decoder.version >= 3 {
            labels = try container.decodeIfPresent([String: Label].self, forKey: .labels) ?? [:]
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(title, forKey: .title)
        try container.encode(due, forKey: .due)
        try container.encode(kind, forKey: .kind)
        try container.encodeIfPresent(author, forKey: .author)
        try container.encode(steps, forKey: .steps)
        try container.encode(lines, forKey: .lines)
        try container.encode(people, forKey: .people)
        try container.encode(prices, forKey: .prices)
        if encoder.version >= 2 { try container.encodeIfPresent(rating, forKey: .rating) }
        if encoder.version >= 3 { try container.encode(labels, forKey: .labels) }
    }
}

extension CodingUserInfoKey {
    static let version = CodingUserInfoKey(rawValue: "version") ?? { preconditionFailure("no key") }()
}

extension Decoder {
    var version: Int { userInfo[.version] as? Int ?? 3 }
}

extension Encoder {
    var version: Int { userInfo[.version] as? Int ?? 3 }
}

/// A date that version 1 encodes as a number, and later ones as a text.
struct Moment: Codable, Equatable {
    var seconds: Int

    init(seconds: Int) { self.seconds = seconds }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            seconds = Int(text.dropFirst()) ?? 0
        } else {
            seconds = try container.decode(Int.self)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if encoder.version >= 2 { try container.encode("@\(seconds)") } else { try container.encode(seconds) }
    }
}

/// An object with members of each version, to which the types below give their names.
struct Members: Equatable, Hashable {
    var first: String
    // Since version 2.
    var second: String?
    // Since version 3.
    var third: String?
}

/// A part of a note with a member of each version.
protocol VersionedPart: Codable, Hashable {
    var members: Members { get set }
    init(members: Members)
}

private enum MemberKeys: CodingKey { case first, second, third }

extension VersionedPart {
    init(_ first: String) { self.init(members: Members(first: first)) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: MemberKeys.self)
        self.init(try container.decode(String.self, forKey: .first))
        if decoder.version >= 2 { members.second = try container.decodeIfPresent(String.self, forKey: .second) }
        if decoder.version >= 3 { members.third = try container.decodeIfPresent(String.self, forKey: .third) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MemberKeys.self)
        try container.encode(members.first, forKey: .first)
        if encoder.version >= 2 { try container.encodeIfPresent(members.second, forKey: .second) }
        if encoder.version >= 3 { try container.encodeIfPresent(members.third, forKey: .third) }
    }
}

struct Author: VersionedPart { var members: Members }

/// An element without an identifier.
struct Line: VersionedPart { var members: Members }

struct Price: VersionedPart { var members: Members }

struct Label: VersionedPart { var members: Members }

/// A key that makes Swift encode a dictionary as an array.
enum Size: String, Codable, CaseIterable { case small, medium, large }

struct Step: Codable, Equatable {
    var id: Int
    var line: Line
    var below: [Step]
}

struct Person: Codable, Hashable {
    var id: Int
    var name: Line
}

/// An enumeration with a case since version 3, and another one for it before.
enum Kind: Codable, Equatable {
    case plain
    case colored(Line)
    case striped(Int)
    case other

    private enum Plain: CodingKey { case plain, colored, striped, other }
    private enum Payload: CodingKey { case value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Plain.self)
        // As the compiler's own implementation.
        guard container.allKeys.count == 1, let key = container.allKeys.first else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "\(container.allKeys)"))
        }
        let payload = try container.nestedContainer(keyedBy: Payload.self, forKey: key)
        switch key {
        case .plain: self = .plain
        case .colored: self = .colored(try payload.decode(Line.self, forKey: .value))
        case .striped where decoder.version >= 3: self = .striped(try payload.decode(Int.self, forKey: .value))
        default: self = .other
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Plain.self)
        switch self {
        case .plain: _ = container.nestedContainer(keyedBy: Payload.self, forKey: .plain)
        case .other: _ = container.nestedContainer(keyedBy: Payload.self, forKey: .other)
        case .colored(let line):
            var payload = container.nestedContainer(keyedBy: Payload.self, forKey: .colored)
            try payload.encode(line, forKey: .value)
        case .striped(let width):
            var payload = container.nestedContainer(keyedBy: Payload.self, forKey: .striped)
            try payload.encode(width, forKey: .value)
        }
    }
}
