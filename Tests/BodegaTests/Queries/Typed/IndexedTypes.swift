import Bodega
import BodegaTesting
import Foundation

/// A type whose records a test draws, with the queries that the test compares.
protocol DrawnType: Queryable, Sendable {
    /// A record, often one that another version or program could have written.
    static func record(_ random: inout SeededGenerator) -> String
    static func predicate(_ random: inout SeededGenerator) -> Predicate<Self>
    /// Sort orders, and the place of an object's value: `nil` comes last in both directions.
    static var orders: [(descriptor: SortDescriptor<Self>, hasValue: @Sendable (Self) -> Bool)] { get }
}

extension SeededGenerator {
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &self)]
    }

    /// An object with some of several members. `nil` omits a member.
    fileprivate mutating func object(_ members: [(String, [String?])]) -> String {
        var texts: [String] = []
        for (name, values) in members {
            if let value = pick(values) { texts.append("\"\(name)\":\(value)") }
        }
        return "{" + texts.shuffled(using: &self).joined(separator: ",") + "}"
    }
}

/// Members that were added later have defaults, some only if they are missing.
struct DefaultedRecord: DrawnType {
    enum CodingKeys: String, CodingKey { case rank, title, maybe, score = "points" }

    var rank: Int
    var title: String
    var maybe: Int?
    var score: Double

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        rank = try container.decodeIfPresent(Int.self, forKey: .rank) ?? 5
        title = try container.decodeIfPresent(String.self, forKey: .title) ?? "m"
        maybe = container.contains(.maybe) ? try container.decode(Int?.self, forKey: .maybe) : 7
        score = try container.decodeIfPresent(Double.self, forKey: .score) ?? 0.5
    }

    static let indexes = [
        Index("rank", \DefaultedRecord.rank), Index("title", \DefaultedRecord.title),
        Index("maybe", \DefaultedRecord.maybe), Index("points", \DefaultedRecord.score),
    ]

    static func record(_ random: inout SeededGenerator) -> String {
        random.object([
            ("rank", [nil, "null", "1", "5", "9", "5.0"]), ("title", [nil, "null", "\"a\"", "\"m\"", "\"z\""]),
            ("maybe", [nil, "null", "1", "7", "8"]), ("points", [nil, "null", "0.5", "0.25", "3"]),
        ])
    }

    static func predicate(_ random: inout SeededGenerator) -> Predicate<Self> {
        let (rank, title, score) = (
            random.pick([1, 5, 7, 9]), random.pick(["a", "m", "z"]), random.pick([0.25, 0.5, 3])
        )
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return #Predicate { $0.rank == rank }
        case 1: return #Predicate { $0.rank != rank }
        case 2: return #Predicate { $0.rank < rank }
        case 3: return #Predicate { $0.title == title }
        case 4: return #Predicate { $0.title >= title }
        case 5: return #Predicate { $0.maybe == rank }
        case 6: return #Predicate { $0.maybe == nil }
        case 7: return #Predicate { $0.maybe != nil }
        default: return #Predicate { $0.score <= score }
        }
    }

    static let orders: [(descriptor: SortDescriptor<Self>, hasValue: @Sendable (Self) -> Bool)] = [
        (SortDescriptor(\.rank), { _ in true }), (SortDescriptor(\.rank, order: .reverse), { _ in true }),
        (SortDescriptor(\.title), { _ in true }), (SortDescriptor(\.maybe, order: .reverse), { $0.maybe != nil }),
        (SortDescriptor(\.maybe), { $0.maybe != nil }), (SortDescriptor(\.score, order: .reverse), { _ in true }),
    ]
}

/// A decoder that takes what it gets, and changes some of it.
struct LenientRecord: DrawnType {
    enum Kind: String, Codable, Sendable {
        case note, task, unknown

        init(from decoder: any Decoder) throws {
            self = Kind(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
        }
    }
    enum State: String, Codable, Sendable { case open, done }
    enum Color: String, Codable, CaseIterable, Sendable {
        case red, green

        init(from decoder: any Decoder) throws {
            let name = try decoder.singleValueContainer().decode(String.self)
            guard let color = Color(rawValue: name == "rouge" ? "red" : name) else {
                throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "No color."))
            }
            self = color
        }
    }
    enum CodingKeys: CodingKey { case kind, state, color, rank, flag, maybe, size, percent, name }

    var kind: Kind
    var state: State
    var color: Color
    var rank: Int
    var flag: Bool
    var maybe: Int?
    var size: UInt8
    var percent: Int
    var name: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys) -> Value? {
            do { return try container.decode(Value.self, forKey: key) } catch { return nil }
        }
        kind = value(.kind) ?? .unknown
        state = value(.state) ?? .open
        color = try container.decode(Color.self, forKey: .color)
        rank = value(.rank) ?? value(.rank).flatMap { (text: String) in Int(text) } ?? 0
        flag = value(.flag) ?? (value(.flag) == "yes")
        maybe = value(.maybe)
        size = value(.size) ?? 0
        percent = min(try container.decode(Int.self, forKey: .percent), 100)
        name = try container.decode(String.self, forKey: .name).lowercased()
    }

    static let indexes = [
        Index("kind", \LenientRecord.kind), Index("state", \LenientRecord.state), Index("color", \LenientRecord.color),
        Index("rank", \LenientRecord.rank), Index("flag", \LenientRecord.flag), Index("maybe", \LenientRecord.maybe),
        Index("size", \LenientRecord.size), Index("percent", \LenientRecord.percent),
        Index("name", \LenientRecord.name),
    ]

    static func record(_ random: inout SeededGenerator) -> String {
        random.object([
            ("kind", ["\"note\"", "\"task\"", "\"legacy\"", "\"unknown\"", "1", nil]),
            ("state", ["\"open\"", "\"done\"", "\"closed\"", nil, "null"]),
            ("color", ["\"red\"", "\"rouge\"", "\"green\""]), ("rank", ["0", "1", "7", "\"7\"", "true", "\"x\"", nil]),
            ("flag", ["true", "false", "\"yes\"", "\"no\"", "1", nil]), ("maybe", ["1", "\"1\"", "null", nil, "true"]),
            ("size", ["0", "200", "300", "-1", nil]), ("percent", ["5", "100", "150", "99"]),
            ("name", ["\"Anna\"", "\"anna\"", "\"bob\""]),
        ])
    }

    static func predicate(_ random: inout SeededGenerator) -> Predicate<Self> {
        let (kind, state) = (random.pick([Kind.note, .unknown]), random.pick([State.open, .done]))
        let (color, rank) = (random.pick([Color.red, .green]), random.pick([0, 1, 7, 100]))
        let (name, size) = (random.pick(["anna", "Anna"]), random.pick([0, 200] as [UInt8]))
        switch Int.random(in: 0..<17, using: &random) {
        case 0: return #Predicate { $0.kind == kind }
        case 1: return #Predicate { $0.kind != kind }
        case 2: return #Predicate { $0.state == state }
        case 3: return #Predicate { $0.state != state }
        case 4: return #Predicate { $0.color == color }
        case 5: return #Predicate { $0.color != color }
        case 6: return #Predicate { $0.rank == rank }
        case 7: return #Predicate { $0.rank > rank }
        case 8: return #Predicate { $0.flag }
        case 9: return #Predicate { !$0.flag }
        case 10: return #Predicate { $0.maybe == nil }
        case 11: return #Predicate { $0.maybe == rank }
        case 12: return #Predicate { $0.size == size }
        case 13: return #Predicate { $0.percent >= rank }
        case 14: return #Predicate { $0.percent == rank }
        case 15: return #Predicate { $0.name == name }
        default: return #Predicate { $0.name.starts(with: name) }
        }
    }

    static let orders: [(descriptor: SortDescriptor<Self>, hasValue: @Sendable (Self) -> Bool)] = [
        (SortDescriptor(\.rank), { _ in true }), (SortDescriptor(\.size, order: .reverse), { _ in true }),
        (SortDescriptor(\.percent), { _ in true }), (SortDescriptor(\.percent, order: .reverse), { _ in true }),
        (SortDescriptor(\.name), { _ in true }), (SortDescriptor(\.maybe, order: .reverse), { $0.maybe != nil }),
    ]
}

/// Dates and numbers in the form of the coder.
struct DatedRecord: DrawnType {
    var date: Date
    var maybeDate: Date?
    var number: Double

    static let indexes = [
        Index("date", \DatedRecord.date), Index("maybeDate", \DatedRecord.maybeDate),
        Index("number", \DatedRecord.number),
    ]

    static let samples = [0, 86_400, 1e9, 2e9, 253_402_300_800, -1e9, 1_700_000_000.5].map {
        Date(timeIntervalSince1970: $0)
    }
    static let numbers = [0, 1, -1, 0.5, 1e300, .infinity, -.infinity]

    static func record(_ random: inout SeededGenerator) -> String { "" }

    static func predicate(_ random: inout SeededGenerator) -> Predicate<Self> {
        let (date, number) = (random.pick(samples), random.pick(numbers))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return #Predicate { $0.date == date }
        case 1: return #Predicate { $0.date < date }
        case 2: return #Predicate { $0.date >= date }
        case 3: return #Predicate { $0.maybeDate == date }
        case 4: return #Predicate { $0.maybeDate == nil }
        case 5: return #Predicate { $0.number < number }
        case 6: return #Predicate { $0.number == number }
        default: return #Predicate { $0.number != number }
        }
    }

    static let orders: [(descriptor: SortDescriptor<Self>, hasValue: @Sendable (Self) -> Bool)] = [
        (SortDescriptor(\.date), { _ in true }), (SortDescriptor(\.date, order: .reverse), { _ in true }),
        (SortDescriptor(\.maybeDate), { $0.maybeDate != nil }), (SortDescriptor(\.number), { _ in true }),
        (SortDescriptor(\.number, order: .reverse), { _ in true }),
    ]
}

/// Properties that are stored elsewhere, or in another form, than their indexes say.
struct MisdeclaredRecord: DrawnType {
    enum CodingKeys: String, CodingKey { case dueDate = "due_date", stamp, rank }

    var dueDate: Int?
    var stamp: Date
    var rank: Int

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        dueDate = try container.decodeIfPresent(Int.self, forKey: .dueDate)
        stamp = Date(timeIntervalSinceReferenceDate: -(try container.decode(Double.self, forKey: .stamp)))
        rank = try container.decode(Int.self, forKey: .rank)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(dueDate, forKey: .dueDate)
        try container.encode(-stamp.timeIntervalSinceReferenceDate, forKey: .stamp)
        try container.encode(rank, forKey: .rank)
    }

    static let indexes = [
        Index("due", \MisdeclaredRecord.dueDate), Index("stamp", \MisdeclaredRecord.stamp),
        Index("rank", \MisdeclaredRecord.rank),
    ]

    static func record(_ random: inout SeededGenerator) -> String {
        random.object([
            ("due_date", ["1", "2", "3", nil, "null"]), ("due", [nil, nil, "1", "9"]), ("stamp", ["1", "2", "-3"]),
            ("rank", ["1", "2"]),
        ])
    }

    static func predicate(_ random: inout SeededGenerator) -> Predicate<Self> {
        let (due, stamp) = (random.pick([1, 2, 9]), Date(timeIntervalSinceReferenceDate: random.pick([-1, 2, 3])))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return #Predicate { $0.dueDate == due }
        case 1: return #Predicate { $0.dueDate == nil }
        case 2: return #Predicate { $0.dueDate != nil }
        case 3: return #Predicate { $0.stamp < stamp }
        case 4: return #Predicate { $0.stamp == stamp }
        default: return #Predicate { $0.rank == due }
        }
    }

    static let orders: [(descriptor: SortDescriptor<Self>, hasValue: @Sendable (Self) -> Bool)] = [
        (SortDescriptor(\.dueDate), { $0.dueDate != nil }), (SortDescriptor(\.stamp), { _ in true }),
        (SortDescriptor(\.dueDate, order: .reverse), { $0.dueDate != nil }),
        (SortDescriptor(\.rank, order: .reverse), { _ in true }),
    ]
}

/// A decoder that limits values, or treats some as absent, and optionals of optionals.
struct LimitedRecord: DrawnType {
    enum CodingKeys: CodingKey { case stock, title, parent, count, text, note, twice }

    var stock: Double
    var title: String
    var parent: Int?
    var count: Int
    var text: String
    var note: String?
    var twice: Int??

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        stock = max(0, try container.decode(Double.self, forKey: .stock))
        title = try container.decode(String.self, forKey: .title)
        if title.isEmpty { title = "m" }
        parent = try container.decodeIfPresent(Int.self, forKey: .parent)
        if parent == -1 { parent = nil }
        count = try container.decode(Int.self, forKey: .count)
        if count == 0 { count = 3 }
        text = String(try container.decode(String.self, forKey: .text).prefix(100))
        note = try container.decodeIfPresent(String.self, forKey: .note)
        if note?.isEmpty == true { note = nil }
        twice = try container.decodeIfPresent(Int.self, forKey: .twice)
    }

    static let indexes = [
        Index("stock", \LimitedRecord.stock), Index("title", \LimitedRecord.title),
        Index("parent", \LimitedRecord.parent), Index("count", \LimitedRecord.count),
        Index("text", \LimitedRecord.text), Index("note", \LimitedRecord.note), Index("twice", \LimitedRecord.twice),
    ]

    private static let long = String(repeating: "x", count: 100)

    static func record(_ random: inout SeededGenerator) -> String {
        random.object([
            ("stock", ["-5", "-1", "0", "2.5"]), ("title", ["\"\"", "\"a\"", "\"m\"", "\"z\""]),
            ("parent", ["-1", "1", "2", nil]), ("count", ["0", "2", "3", "4"]),
            ("text", ["\"\(long)\"", "\"\(long)y\"", "\"a\""]), ("note", ["\"\"", "\"a\"", nil, "null"]),
            ("twice", ["1", "2", nil, "null"]),
        ])
    }

    static func predicate(_ random: inout SeededGenerator) -> Predicate<Self> {
        let (number, stock) = (random.pick([-1, 1, 2, 3]), random.pick([-1, 0, 2.5]))
        let (title, text) = (random.pick(["", "a", "m"]), random.pick([long, long + "y"]))
        let twice = random.pick([nil, .some(nil), 1] as [Int??])
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return #Predicate { $0.stock == stock }
        case 1: return #Predicate { $0.stock > stock }
        case 2: return #Predicate { $0.title == title }
        case 3: return #Predicate { $0.parent == nil }
        case 4: return #Predicate { $0.parent == number }
        case 5: return #Predicate { $0.count == number }
        case 6: return #Predicate { $0.text == text }
        case 7: return #Predicate { $0.note == nil }
        default: return #Predicate { $0.twice == twice }
        }
    }

    static let orders: [(descriptor: SortDescriptor<Self>, hasValue: @Sendable (Self) -> Bool)] = [
        (SortDescriptor(\.stock), { _ in true }), (SortDescriptor(\.title, order: .reverse), { _ in true }),
        (SortDescriptor(\.parent), { $0.parent != nil }), (SortDescriptor(\.count), { _ in true }),
        (SortDescriptor(\.text), { _ in true }), (SortDescriptor(\.note), { $0.note != nil }),
    ]
}
