import BodegaTesting
import Foundation
import RecordCoder
import RecordCoderFuzz
import TestSupport
import Testing

/// Random documents and values. Set `EMPORIUM_SEED` to repeat a run that failed.
@Suite struct RandomDocumentTests {

    private let seed = Seed.current

    init() {
        print("random documents: EMPORIUM_SEED=\(seed)")
    }

    @Test("Types that use their decoder in any way see the same as with Foundation's")
    func exploration() throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let json = RandomDocument.make(&random)
            expectSameAsFoundation(Explorer.self, json, userInfo: [Explorer.seed: random.next()])
        }
    }

    @Test("Random documents decode to the same value of any type")
    func documents() throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let json = RandomDocument.make(&random)
            #expect(expectSameAsFoundation(JSONValue.self, json) != nil)
            expectSameAsFoundation([String: JSONValue].self, json)
            expectSameAsFoundation([JSONValue].self, json)
            expectSameAsFoundation(StructDecodingTests.Optionals.self, json)
            expectSameAsFoundation(String.self, json)
            expectSameAsFoundation(Double.self, json)
        }
    }

    @Test("Any JSON survives each pair of an encoder and a decoder")
    func anyJSON() throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let json = RandomDocument.make(&random)
            let value = try JSONDecoder().decode(JSONValue.self, from: json)
            let copies = try copies(of: value).map { exactDescription(of: $0) }
            #expect(Set(copies).count == 1, "\(escaped(json))")
        }
    }

    @Test("Random values survive each pair of an encoder and a decoder")
    func values() throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let value = RandomValue(&random, depth: 2)
            for copy in try copies(of: value) {
                #expect(exactDescription(of: copy) == exactDescription(of: value))
            }
        }
    }

    /// The results of the four pairs.
    private func copies<Value: Codable>(of value: Value) throws -> [Value] {
        try [JSONEncoder().encode(value), RecordEncoder().encode(value)].flatMap { data in
            [try JSONDecoder().decode(Value.self, from: data), try RecordDecoder().decode(Value.self, from: data)]
        }
    }
}

/// A value with members of many types.
struct RandomValue: Codable {
    enum Kind: Codable {
        case none
        case named(String)
        case pair(Int, second: Double?)
    }

    var id: UUID
    var text: String
    var count: Int
    var big: UInt64
    var small: Int8
    var ratio: Double
    var single: Float
    var isOn: Bool
    var date: Date
    var link: URL?
    var data: Data
    var price: Decimal
    var list: [Int?]
    var names: [String]
    var map: [String: Int]
    var numbered: [Int: String]
    var kind: Kind
    var below: [RandomValue]

    init(_ random: inout SeededGenerator, depth: Int) {
        func text(_ random: inout SeededGenerator) -> String {
            var text = ""
            for _ in 0..<random.next() % 24 {
                let scalar = random.next() % 4 == 0 ? UInt32(random.next() % 0x11_0000) : UInt32(random.next() % 0x80)
                text.unicodeScalars.append(UnicodeScalar(scalar) ?? "?")
            }
            return text
        }
        func double(_ random: inout SeededGenerator) -> Double {
            let value =
                switch random.next() % 5 {
                case 0: Double(Int(random.next() % 2_000_000) - 1_000_000) / 100
                case 1: Double(Int64(bitPattern: random.next()))
                case 2: Double(Int(random.next() % 100))
                case 3: random.next() % 2 == 0 ? -0.0 : Double.leastNonzeroMagnitude
                default: Double(bitPattern: random.next())
                }
            return value.isFinite ? value : 0.1
        }
        func uuid(_ random: inout SeededGenerator) -> UUID {
            let (a, b) = (random.next(), random.next())
            return UUID(uuid: withUnsafeBytes(of: (a, b)) { $0.load(as: uuid_t.self) })
        }
        id = uuid(&random)
        self.text = text(&random)
        count = Int(truncatingIfNeeded: random.next())
        big = random.next()
        small = Int8(truncatingIfNeeded: random.next())
        ratio = double(&random)
        single = Float(Int(random.next() % 1_000_000)) / 1_000
        isOn = random.next() % 2 == 0
        date = Date(timeIntervalSinceReferenceDate: Double(random.next() % 1_000_000_000_000) / 1_000)
        link =
            random.next() % 2 == 0 ? nil : URL(string: "https://example.com/\(random.next())?q=\(random.next() % 9)#é")
        data = Data((0..<random.next() % 40).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        price = Decimal(Int(random.next() % 1_000_000)) / 100
        list = (0..<random.next() % 5).map { _ in random.next() % 3 == 0 ? nil : Int(truncatingIfNeeded: random.next())
        }
        names = (0..<random.next() % 5).map { _ in text(&random) }
        map = [:]
        for _ in 0..<random.next() % 6 { map[text(&random)] = Int(random.next() % 1_000) }
        numbered = [:]
        for _ in 0..<random.next() % 4 { numbered[Int(truncatingIfNeeded: random.next())] = text(&random) }
        kind =
            switch random.next() % 3 {
            case 0: .none
            case 1: .named(text(&random))
            default: .pair(Int(random.next() % 9), second: random.next() % 2 == 0 ? nil : double(&random))
            }
        below = []
        if depth > 0 {
            for _ in 0..<random.next() % 3 { below.append(RandomValue(&random, depth: depth - 1)) }
        }
    }
}
