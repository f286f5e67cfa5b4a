import Foundation
import TestSupport
import Testing

@testable import Bodega

/// Types whose decoders or values treat several stored values as one. Queries must find what `filter` does.
@Suite struct UnusualDecoderTests {

    /// A number in whole cents.
    private struct Price: Queryable {
        var amount: Double

        static let indexes = [Index("amount", \Price.amount)]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            amount = (try container.decode(Double.self, forKey: .amount) * 100).rounded() / 100
        }
    }

    /// A moment in whole milliseconds.
    private struct Moment: Queryable {
        var time: Date

        static let indexes = [Index("time", \Moment.time)]

        init(from decoder: any Decoder) throws {
            let seconds = try decoder.container(keyedBy: CodingKeys.self).decode(Double.self, forKey: .time)
            time = Date(timeIntervalSinceReferenceDate: (seconds * 1_000).rounded() / 1_000)
        }
    }

    /// A text without line breaks at its ends.
    private struct Line: Queryable {
        var text: String

        static let indexes = [Index("text", \Line.text)]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            text = try container.decode(String.self, forKey: .text).trimmingCharacters(in: .newlines)
        }
    }

    private enum State: String, Codable {
        case open, done

        init?(rawValue: String) {
            switch rawValue.lowercased() {
            case "open": self = .open
            case "done": self = .done
            default: return nil
            }
        }
    }

    private enum Level: Int, Codable {
        case low = 1
        case high

        init?(rawValue: Int) {
            switch rawValue {
            case 1, 10: self = .low
            case 2, 20: self = .high
            default: return nil
            }
        }
    }

    private enum Country: String, Codable, CaseIterable {
        case us, usa, de

        static func == (left: Country, right: Country) -> Bool {
            (left.rawValue == "de") == (right.rawValue == "de")
        }

        func hash(into hasher: inout Hasher) { hasher.combine(rawValue == "de") }
    }

    private struct Task: Queryable {
        var state: State?
        var level: Level?
        var country: Country?
        var number = 0

        static let indexes = [
            Index("state", \Task.state), Index("level", \Task.level), Index("country", \Task.country),
            Index("number", \Task.number).where("state", \Task.state, equals: .open),
        ]
    }

    private func check<Object: Queryable>(
        _ type: Object.Type, _ texts: [String], _ predicates: [Predicate<Object>]
    ) async throws {
        let folder = TemporaryFolder()
        let objects = try texts.map { try JSONDecoder().decode(Object.self, from: Data($0.utf8)) }
        let engines: [any StorageEngine] = [
            MemoryStorageEngine(), try SQLiteStorageEngine(openingFile: folder.file("a"), durability: .relaxed),
        ]
        for engine in engines {
            let storage = ObjectStorage<Object>(storage: engine)
            try await engine.write(texts.enumerated().map { (CacheKey(verbatim: "\($0)"), Data($1.utf8)) })
            for _ in 0..<2 {
                for predicate in predicates {
                    let expected = try objects.indices.filter { try predicate.evaluate(objects[$0]) }.map { "\($0)" }
                    let query = Query(where: predicate)
                    let found = try await storage.fetch(query).objectsAndKeys.map(\.key.value)
                    #expect(found == expected, "\(type), \(predicate)")
                    #expect(try await storage.count(query) == expected.count)
                }
                try await storage.createIndexes()
            }
        }
    }

    @Test func `Values that a decoder rounds or trims are found`() async throws {
        let amounts = ["0.30000000000000004", "0.3", "0.299999", "1"]
        try await check(Price.self, amounts.map { #"{"amount":\#($0)}"# }, [#Predicate { $0.amount == 0.3 }])
        let time = Date(timeIntervalSinceReferenceDate: 0.123)
        try await check(
            Moment.self, ["0.1234", "0.123", "0.12345", "0.125"].map { #"{"time":\#($0)}"# },
            [#Predicate { $0.time == time }, #Predicate { $0.time > time }])
        try await check(Line.self, ["a", #"a\n"#, "b"].map { #"{"text":"\#($0)"}"# }, [#Predicate { $0.text == "a" }])
    }

    @Test func `Cases of an enumeration with other raw values, or an equality of its own, are found`() async throws {
        let (open, low, us) = (State.open, Level.low, Country.us)
        try await check(
            Task.self,
            ["open", "OPEN", "done", "Done"].map { #"{"state":"\#($0)","number":1}"# },
            [#Predicate { $0.state == open }, #Predicate { $0.state != open }])
        try await check(
            Task.self, [1, 10, 2, 20].map { #"{"level":\#($0),"number":1}"# },
            [#Predicate { $0.level == low }, #Predicate { $0.level != low }])
        try await check(
            Task.self, ["us", "usa", "de"].map { #"{"country":"\#($0)","number":1}"# },
            [#Predicate { $0.country == us }, #Predicate { $0.country != us }])
    }

    private enum Plain: String, Codable { case first, second = "SECOND", third = "third " }

    /// Properties of the usual types, which determine their members.
    private struct Usual: Queryable {
        var real = 0.1
        var float: Float? = 0.1
        var integer: UInt64 = 7
        var text = "a"
        var date = Date(timeIntervalSince1970: 1_796_092_265.593_267)
        var id = UUID()
        var plain = Plain.first
        var other: Plain? = .second

        static let indexes = [
            Index("real", \Usual.real), Index("float", \Usual.float), Index("integer", \Usual.integer),
            Index("text", \Usual.text), Index("date", \Usual.date), Index("id", \Usual.id),
            Index("plain", \Usual.plain), Index("other", \Usual.other),
        ]
    }

    @Test(arguments: [0, 1, 2])
    func `Indexes over properties of the usual types are used`(_ dates: Int) throws {
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.dateEncodingStrategy = [.deferredToDate, .secondsSince1970, .millisecondsSince1970][dates]
        decoder.dateDecodingStrategy = [.deferredToDate, .secondsSince1970, .millisecondsSince1970][dates]
        for coder in [JSONObjectCoder(encoder: encoder, decoder: decoder), JSONObjectCoder()] {
            coder.trusts.learn(from: Usual(), coder: coder)
            #expect(coder.trusts.trusted(Usual.indexes).map(\.keyPath) == Usual.indexes.map(\.keyPath))
        }
    }
}
