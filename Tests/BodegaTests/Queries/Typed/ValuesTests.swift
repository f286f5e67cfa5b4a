import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

/// An object with properties of many types.
private struct Valued: Queryable, Equatable {
    enum Kind: String, Codable, Sendable { case small, large, other }
    struct Size: Codable, Hashable, Sendable { var width = 1 }

    static let decodings = Locked(0)

    var id: Int
    var text: String
    var note: String?
    var number: Int
    var rank: Int?
    var amount: Double
    var isDone: Bool
    var date: Date
    var kind: Kind
    var optionalKind: Kind?
    var large: UInt64
    var identifier: UUID
    var size = Size()

    static let indexes = [
        Index("text", \Valued.text), Index("note", \Valued.note), Index("number", \Valued.number),
        Index("rank", \Valued.rank), Index("amount", \Valued.amount), Index("isDone", \Valued.isDone),
        Index("date", \Valued.date), Index("kind", \Valued.kind), Index("optionalKind", \Valued.optionalKind),
        Index("large", \Valued.large), Index("identifier", \Valued.identifier),
    ]

    static let texts = ["", "a", "b", "é", "日本", "null", "7", "[1]"]
    /// Texts that an index does not have: with combining marks or escapes, and longer than those that are examined.
    static let wildTexts = ["e\u{301}", "\"quoted\\\"", String(repeating: "long ", count: 1_000)]
    static let numbers = [0, 1, -1, 7, 1 << 53, 1 << 53 + 1, .max, .min]
    static let identifiers = (0..<3).compactMap { UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964F\($0)") }

    init(_ id: Int, using random: inout SeededGenerator, isWild: Bool) {
        func one<Element>(of elements: [Element]) -> Element {
            elements[Int.random(in: elements.indices, using: &random)]
        }
        self.id = id
        text = one(of: Self.texts + (isWild ? Self.wildTexts : []))
        note = Bool.random(using: &random) ? nil : Self.texts.randomElement(using: &random)
        number = one(of: isWild ? Self.numbers : Array(-3...3))
        rank = one(of: [nil, 1, 2, 3])
        amount = one(of: [0, -0.0, 0.1, 0.1.nextUp, 1.5, 1e300, 7, 7])
        isDone = one(of: [false, true])
        date = Date(timeIntervalSinceReferenceDate: one(of: [0, 0.1, 7e8, -5e9]))
        kind = one(of: [.small, .large, .other])
        optionalKind = one(of: [nil, .small, .large])
        large = one(of: isWild ? [0, 1, .max, .max - 1] : [3])
        identifier = one(of: Self.identifiers)
    }

    init(from decoder: any Decoder) throws {
        Self.decodings.withLock { $0 += 1 }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        text = try container.decode(String.self, forKey: .text)
        note = try container.decodeIfPresent(String.self, forKey: .note)
        number = try container.decode(Int.self, forKey: .number)
        rank = try container.decodeIfPresent(Int.self, forKey: .rank)
        amount = try container.decode(Double.self, forKey: .amount)
        isDone = try container.decode(Bool.self, forKey: .isDone)
        date = try container.decode(Date.self, forKey: .date)
        kind = try container.decode(Kind.self, forKey: .kind)
        optionalKind = try container.decodeIfPresent(Kind.self, forKey: .optionalKind)
        large = try container.decode(UInt64.self, forKey: .large)
        identifier = try container.decode(UUID.self, forKey: .identifier)
        size = try container.decode(Size.self, forKey: .size)
    }

    private enum CodingKeys: CodingKey {
        case id, text, note, number, rank, amount, isDone, date, kind, optionalKind, large, identifier, size
    }

    var key: CacheKey { CacheKey("\(id)") }

    /// The record in an unusual spelling that is decoded as the same object.
    func spelled(using random: inout SeededGenerator) throws -> Data {
        var text = String(decoding: try JSONObjectCoder().encode(self), as: UTF8.self)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: text = text.replacingOccurrences(of: ",", with: " ,\n\t")
        case 1: text = text.replacingOccurrences(of: "\"small\"", with: "\"sm\\u0061ll\"")
        case 2 where note == nil: text = text.dropLast() + ",\"note\":null}"
        case 3: text = text.replacingOccurrences(of: "\"a\"", with: "\"\\u0061\"")
        // An index has this number as that of the others, but is not sure.
        case 4: text = text.replacingOccurrences(of: "\"amount\":7,", with: "\"amount\":7.0,")
        default: break
        }
        let data = Data(text.utf8)
        return try JSONObjectCoder().decode(Valued.self, from: data) == self ? data : try JSONObjectCoder().encode(self)
    }
}

/// The kinds of engines.
private enum ValuesEngine: String, CaseIterable {
    case memory, disk, sqlite, sqliteWithoutIndexes, cached, encrypted

    func storage(in folder: TemporaryFolder) async throws -> ObjectStorage<Valued> {
        let directory = folder.directory
        func sqlite() throws -> SQLiteStorageEngine {
            try SQLiteStorageEngine(opening: directory, durability: .relaxed)
        }
        let storage: ObjectStorage<Valued> =
            switch self {
            case .memory: ObjectStorage(storage: MemoryStorageEngine())
            case .disk: ObjectStorage(storage: try DiskStorageEngine(opening: directory, durability: .relaxed))
            case .sqlite: ObjectStorage(storage: try sqlite())
            case .sqliteWithoutIndexes: ObjectStorage(storage: WithoutIndexes(base: try sqlite()))
            case .cached: ObjectStorage(storage: try sqlite().cached())
            case .encrypted:
                ObjectStorage(storage: try sqlite().encrypted(with: EncryptionKeyset(), collection: "values"))
            }
        try await storage.createIndexes()
        return storage
    }
}

@Suite(.serialized) struct ValuesTests {
    private let folder = TemporaryFolder()

    /// The values by `Dictionary(grouping:)`. Their order is checked apart.
    private func check<Value: Hashable & Sendable>(
        _ property: any KeyPath<Valued, Value> & Sendable, _ objects: [Valued], _ storage: ObjectStorage<Valued>,
        _ query: Query<Valued>, _ comment: Comment
    ) async throws {
        let expected = Dictionary(grouping: objects) { $0[keyPath: property] }.mapValues(\.count)
        let values = try await storage.values(of: property, matching: query)
        let counts = Dictionary(values.map { ($0.value, $0.count) }) { _, _ in -1 }
        #expect(counts == expected, "\(property), \(comment)")
    }

    @Test(arguments: ValuesEngine.allCases)
    fileprivate func `Values and counts are those of the objects, with and without indexes`(
        _ engine: ValuesEngine
    ) async throws {
        let seed = Seed.current
        print("values: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let storage = try await engine.storage(in: folder)
        var all: [Int: Valued] = [:]
        for round in 0..<8 {
            for _ in 0..<25 {
                let object = Valued(Int.random(in: 0..<120, using: &random), using: &random, isWild: round > 3)
                all[object.id] = object
                try await storage.storage.write(object.spelled(using: &random), key: object.key)
            }
            for id in 0..<120 where Int.random(in: 0..<20, using: &random) == 0 {
                all[id] = nil
                try await storage.removeObject(forKey: CacheKey("\(id)"))
            }
            let comment: Comment = "seed \(seed), round \(round)"
            let objects = Array(all.values)
            let every = Query<Valued>()
            try await check(\.text, objects, storage, every, comment)
            try await check(\.note, objects, storage, every, comment)
            try await check(\.number, objects, storage, every, comment)
            try await check(\.rank, objects, storage, every, comment)
            try await check(\.amount, objects, storage, every, comment)
            try await check(\.isDone, objects, storage, every, comment)
            try await check(\.date, objects, storage, every, comment)
            try await check(\.kind, objects, storage, every, comment)
            try await check(\.optionalKind, objects, storage, every, comment)
            try await check(\.large, objects, storage, every, comment)
            try await check(\.identifier, objects, storage, every, comment)
            try await check(\.size, objects, storage, every, comment)
            let above = Query<Valued>(where: #Predicate { $0.number > 0 })
            let positive = objects.filter { $0.number > 0 }
            try await check(\.number, positive, storage, above, comment)
            try await check(\.text, positive, storage, above, comment)
            let low = Query<Valued>(where: #Predicate { $0.amount <= 0.1 })
            try await check(\.amount, objects.filter { $0.amount <= 0.1 }, storage, low, comment)
            let ranked = Query<Valued>(where: #Predicate { $0.rank != 2 })
            try await check(\.rank, objects.filter { $0.rank != 2 }, storage, ranked, comment)
            let named = Query<Valued>(where: #Predicate { $0.text == "é" })
            try await check(\.text, objects.filter { $0.text == "é" }, storage, named, comment)
        }
    }

    @Test func `Values are in ascending order, and nil is the last one`() async throws {
        let storage = try await ValuesEngine.sqlite.storage(in: folder)
        var random = SeededGenerator(seed: 1)
        let objects = (0..<200).map { Valued($0, using: &random, isWild: true) }
        try await storage.store(objects.map { ($0.key, $0) })
        #expect(try await storage.values(of: \.text).map(\.value) == Set(objects.map(\.text)).sorted())
        #expect(try await storage.values(of: \.number).map(\.value) == Set(objects.map(\.number)).sorted())
        #expect(try await storage.values(of: \.rank).map(\.value) == [1, 2, 3, nil])
        // Neither type has a `<`.
        #expect(try await storage.values(of: \.kind).map(\.value) == [.large, .other, .small])
        #expect(try await storage.values(of: \.optionalKind).map(\.value) == [.large, .small, nil])
        #expect(try await storage.values(of: \.size) == [ValueCount(Valued.Size(), count: 200)])
        let none = Query<Valued>(where: #Predicate { $0.number == 99 })
        #expect(try await storage.values(of: \.text, matching: none).isEmpty)
    }

    @Test func `NaN comes after all other numbers, once, and before nil`() async throws {
        struct Measure: Codable { var value: Double? }
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let coder = JSONObjectCoder.json(encoder: encoder, decoder: decoder)
        let storage = ObjectStorage<Measure>(storage: MemoryStorageEngine(), coder: coder)
        let numbers: [Double?] = [-.infinity, -2, -1, 0, 1, 2, 3, 4, .infinity]
        let measures = (0..<60).map { Measure(value: $0 < 20 ? .nan : $0 == 20 ? nil : numbers[$0 % 9]) }
        try await storage.store(measures.enumerated().map { (CacheKey("\($0)"), $1) })
        let values = try await storage.values(of: \.value)
        #expect(values.dropLast(2).map(\.value) == numbers)
        #expect(values.suffix(2).map { $0.value?.isNaN } == [true, nil])
        #expect(values.suffix(2).map(\.count) == [20, 1])
    }

    @Test func `With an index, few objects are read for many`() async throws {
        let storage = try await ValuesEngine.sqlite.storage(in: folder)
        var random = SeededGenerator(seed: 2)
        let objects = (0..<3_000).map { Valued($0, using: &random, isWild: false) }
        try await storage.store(objects.map { ($0.key, $0) })
        _ = try await storage.values(of: \.rank)
        func decodings(_ read: () async throws -> Void) async throws -> Int {
            let before = Valued.decodings.withLock { $0 }
            try await read()
            return Valued.decodings.withLock { $0 } - before
        }
        let (every, above) = (Query<Valued>(), Query<Valued>(where: #Predicate { $0.number > 0 }))
        let positive = objects.filter { $0.number > 0 }
        let (text, rank) = (
            try await decodings { try await check(\.text, objects, storage, every, "") },
            try await decodings { try await check(\.rank, objects, storage, every, "") }
        )
        #expect(text < 20 && rank < 20)
        let (isDone, kind) = (
            try await decodings { try await check(\.isDone, objects, storage, every, "") },
            try await decodings { try await check(\.optionalKind, objects, storage, every, "") }
        )
        #expect(isDone < 20 && kind < 20)
        let narrowed = try await decodings { try await check(\.number, positive, storage, above, "") }
        #expect(narrowed < 20)
        // No index is about both properties, or about this one.
        let (both, size) = (
            try await decodings { try await check(\.text, positive, storage, above, "") },
            try await decodings { try await check(\.size, objects, storage, every, "") }
        )
        #expect(both >= positive.count && size >= 3_000)
    }

    @Test func `More values than the index should count are read`() async throws {
        let storage = try await ValuesEngine.sqlite.storage(in: folder)
        var random = SeededGenerator(seed: 3)
        let objects = (0..<1_002).map { id in
            var object = Valued(id, using: &random, isWild: false)
            object.number = id / 2 * 2
            object.rank = id
            return object
        }
        try await storage.store(objects.map { ($0.key, $0) })
        try await check(\.number, objects, storage, Query(), "501 values")
        try await check(\.rank, objects, storage, Query(), "1,002 values")
    }

    @Test func `The values are those of one moment, although others write`() async throws {
        let storage = try await ValuesEngine.sqlite.storage(in: folder)
        var random = SeededGenerator(seed: 4)
        let objects = (0..<20).map { Valued($0, using: &random, isWild: false) }
        let forms = [false, true].map { isDone in
            objects.map { object in
                var object = object
                object.isDone = isDone
                return (object.key, object)
            }
        }
        try await storage.store(forms[0])
        let isDone = Locked(false)
        let writer = Task {
            defer { isDone.withLock { $0 = true } }
            for number in 0..<200 { try await storage.store(forms[number % 2]) }
        }
        var found: Set<[ValueCount<Bool>]> = []
        while !isDone.withLock({ $0 }) { found.insert(try await storage.values(of: \.isDone)) }
        try await writer.value
        #expect(found.isSubset(of: [[ValueCount(false, count: 20)], [ValueCount(true, count: 20)]]))
    }

    @Test func `A record that can't be decoded is an error without an index`() async throws {
        let storage = try await ValuesEngine.memory.storage(in: folder)
        try await storage.storage.write(Data("{".utf8), key: CacheKey("bad"))
        await #expect(throws: StorageError.self) { try await storage.values(of: \.text) }
        let read = try await storage.valuesOmittingUndecodable(of: \.text, matching: Query())
        #expect(read.values.isEmpty && read.undecodable.map(\.key) == [CacheKey("bad")])
    }
}
