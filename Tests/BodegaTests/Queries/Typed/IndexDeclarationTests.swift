import BodegaTesting
import Foundation
import Logging
import TestSupport
import Testing

@testable import Bodega

/// Queries of drawn types, with and without indexes, compared with Swift's own `filter` and `sorted(using:)` of the
/// decoded objects.
@Suite struct IndexDeclarationTests {

    private func check<Object: DrawnType>(
        _ type: Object.Type, coder makeCoder: () -> JSONObjectCoder = { JSONObjectCoder() }, rounds: Int = 40,
        record: (inout SeededGenerator) throws -> String = { Object.record(&$0) }
    ) async throws {
        var random = SeededGenerator(seed: Seed.current)
        let folder = TemporaryFolder()
        let indexed = try SQLiteStorageEngine(openingFile: folder.file("indexed.sqlite3"), durability: .relaxed)
        for index in Object.storageIndexes { try await indexed.createIndex(index) }
        let engines: [any StorageEngine] = [MemoryStorageEngine(), indexed]
        for part in 0..<3 {
            let texts = try (0..<40).map { _ in try record(&random) }
            let coder = makeCoder()
            let keys = texts.indices.map { CacheKey(verbatim: "\($0)") }
            var records: [(key: CacheKey, object: Object)] = []
            for (key, text) in zip(keys, texts) {
                records.append((key, try coder.decode(Object.self, from: Data(text.utf8))))
            }
            for engine in engines {
                try await engine.removeAllData()
                try await engine.write(zip(keys, texts).map { ($0, Data($1.utf8)) })
                // A coder that has seen no object, and one that has.
                for coder in [makeCoder(), coder] {
                    let storage = ObjectStorage<Object>(storage: engine, coder: coder)
                    for _ in 0..<rounds {
                        let predicate = Object.predicate(&random)
                        let order = random.pick(Object.orders)
                        let query = Query(where: predicate, sortedBy: order.descriptor)
                        let matches = try records.filter { try predicate.evaluate($0.object) }
                        let expected =
                            sorted(matches.filter { order.hasValue($0.object) }, using: order.descriptor)
                            + matches.filter { !order.hasValue($0.object) }.map(\.key)
                        let found = try await storage.fetch(query).objectsAndKeys.map(\.key)
                        let place =
                            """
                            seed \(Seed.current), \(type), \(Swift.type(of: engine)), part \(part), \(predicate), \
                            \(order.descriptor)
                            """
                        #expect(found == expected, "\(place)")
                        if found != expected { return }
                        #expect(try await storage.count(query) == expected.count, "count, \(place)")
                        #expect(try await storage.first(query)?.key == expected.first, "first, \(place)")
                    }
                }
            }
        }
    }

    /// The keys in the order of a descriptor: that of the standard library's stable sort.
    private func sorted<Object>(
        _ records: [(key: CacheKey, object: Object)], using descriptor: SortDescriptor<Object>
    ) -> [CacheKey] {
        records.sorted { descriptor.compare($0.object, $1.object) == .orderedAscending }.map(\.key)
    }

    @Test func `Members with defaults change no result`() async throws {
        try await check(DefaultedRecord.self)
    }

    @Test func `Fallbacks, other spellings and changes of a decoder change no result`() async throws {
        try await check(LenientRecord.self, rounds: 60)
    }

    @Test func `Values that a decoder limits or treats as absent change no result`() async throws {
        try await check(LimitedRecord.self)
    }

    @Test func `Indexes over other members than those of the properties change no result`() async throws {
        try await check(MisdeclaredRecord.self)
    }

    @Test func `Dates and numbers in the form of a coder change no result`() async throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "dd.MM.yyyy"
        let dates: [(JSONEncoder.DateEncodingStrategy, JSONDecoder.DateDecodingStrategy)] = [
            (.deferredToDate, .deferredToDate), (.secondsSince1970, .secondsSince1970),
            (.millisecondsSince1970, .millisecondsSince1970), (.formatted(formatter), .formatted(formatter)),
            (
                .custom { date, encoder in
                    var container = encoder.singleValueContainer()
                    try container.encode("\(date.timeIntervalSince1970)")
                },
                .custom { decoder in
                    let text = try decoder.singleValueContainer().decode(String.self)
                    return Date(timeIntervalSince1970: Double(text) ?? 0)
                }
            ),
        ]
        for (encoding, decoding) in dates {
            let makeCoder = {
                let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
                (encoder.dateEncodingStrategy, decoder.dateDecodingStrategy) = (encoding, decoding)
                encoder.nonConformingFloatEncodingStrategy = .convertToString(
                    positiveInfinity: "+inf", negativeInfinity: "-inf", nan: "nan")
                decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                    positiveInfinity: "+inf", negativeInfinity: "-inf", nan: "nan")
                return JSONObjectCoder(encoder: encoder, decoder: decoder)
            }
            let coder = makeCoder()
            try await check(DatedRecord.self, coder: makeCoder, rounds: 15) { random in
                let record = DatedRecord(
                    date: random.pick(DatedRecord.samples), maybeDate: random.pick(DatedRecord.samples + [nil]),
                    number: random.pick(DatedRecord.numbers))
                return String(decoding: try coder.encode(record), as: UTF8.self)
            }
        }
    }

    @Test func `An index whose path is not that of the property is reported once, with what to do`() async throws {
        struct Task: Queryable {
            enum CodingKeys: String, CodingKey { case title, dueDate = "due_date" }
            var title: String
            var dueDate: Date?
            static let indexes = [Index("title", \Task.title), Index("due", \Task.dueDate)]
        }
        let reports = Locked<[(level: Logger.Level, path: String)]>([])
        let logger = Logger { level, metadata in
            reports.withLock { $0.append((level, metadata["path"].map { "\($0)" } ?? "")) }
        }
        let coder = JSONObjectCoder(trusts: IndexTrusts(logger: logger))
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let storage = ObjectStorage<Task>(storage: engine, coder: coder)
        try await storage.createIndexes()
        for number in 0..<5 {
            let task = Task(title: "\(number)", dueDate: Date(timeIntervalSinceReferenceDate: Double(-number)))
            try await storage.store(task, forKey: CacheKey(verbatim: "\(number)"))
        }
        #expect(reports.withLock { $0.map(\.path) } == ["due"])
        #expect(reports.withLock { $0.map(\.level) } == [.error])
        let limit = Date(timeIntervalSinceReferenceDate: -2)
        let query = Query<Task>(
            where: #Predicate { ($0.dueDate ?? limit) < limit }, sortedBy: SortDescriptor(\.dueDate))
        #expect(try await storage.fetch(query).objects.map(\.title) == ["4", "3"])
        let first: Date? = Date(timeIntervalSinceReferenceDate: 0)
        #expect(try await storage.count(Query(where: #Predicate { $0.dueDate == first })) == 1)
        #expect(reports.withLock { $0.count } == 1)
    }

    /// A type that leaves members out if they have their defaults.
    private struct Sparse: Queryable {
        enum Level: String, Codable { case low, high }
        enum CodingKeys: String, CodingKey { case name, rank, level, weight, note = "remark" }
        var name: String
        var rank = 1
        var level = Level.low
        var weight: Int? = 1
        var note = "none"

        static let indexes = [
            Index("name", \Sparse.name), Index("rank", \Sparse.rank), Index("level", \Sparse.level),
            Index("weight", \Sparse.weight), Index("note", \Sparse.note),
        ]

        init(name: String, rank: Int = 1, level: Level = .low, weight: Int? = 1, note: String = "none") {
            (self.name, self.rank, self.level, self.weight, self.note) = (name, rank, level, weight, note)
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            name = try values.decode(String.self, forKey: .name)
            rank = try values.decodeIfPresent(Int.self, forKey: .rank) ?? 1
            level = try values.decodeIfPresent(Level.self, forKey: .level) ?? .low
            weight = values.contains(.weight) ? try values.decode(Int?.self, forKey: .weight) : 1
            note = try values.decodeIfPresent(String.self, forKey: .note) ?? "none"
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(name, forKey: .name)
            if rank != 1 { try values.encode(rank, forKey: .rank) }
            if level != .low { try values.encode(level, forKey: .level) }
            if weight != 1 { try values.encode(weight, forKey: .weight) }
            if note != "none" { try values.encode(note, forKey: .note) }
        }
    }

    @Test func `A type that leaves out defaults uses its indexes, and the log says where that is impossible, and why`()
        async throws
    {
        let reports = Locked<[String: String]>([:])
        let logger = Logger.ofMessages { message, metadata in
            reports.withLock { $0[metadata["path"].map { "\($0)" } ?? ""] = message }
        }
        let trusts = IndexTrusts(logger: logger)
        let coder = JSONObjectCoder(trusts: trusts)
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let storage = ObjectStorage<Sparse>(storage: engine, coder: coder)
        try await storage.createIndexes()
        var objects = [Sparse(name: "default")]
        for number in 0..<40 {
            objects.append(
                Sparse(
                    name: "\(number)", rank: number % 4, level: number % 3 == 0 ? .high : .low,
                    weight: number % 5 == 0 ? nil : number % 3, note: number % 2 == 0 ? "none" : "other"))
        }
        for object in objects { try await storage.store(object, forKey: CacheKey(verbatim: object.name)) }
        #expect(reports.withLock { $0.keys.sorted() } == ["note", "weight"])
        #expect(reports.withLock { $0["note"]?.contains("Declare the index with the path") } == true)
        #expect(reports.withLock { $0["weight"]?.contains("leaves its member out") } == true)
        #expect(trusts.trusted(Sparse.indexes).map(\.storageIndex.path) == ["name", "rank", "level"])
        let low = Sparse.Level.low
        let predicates: [Predicate<Sparse>] = [
            #Predicate { $0.rank == 1 }, #Predicate { $0.rank < 2 }, #Predicate { $0.rank != 1 },
            #Predicate { $0.level == low }, #Predicate { $0.weight == 1 }, #Predicate { $0.weight == nil },
            #Predicate { $0.note == "none" },
        ]
        for predicate in predicates {
            let expected = try objects.filter(predicate.evaluate)
            let found = try await storage.fetch(Query(where: predicate)).objects
            #expect(found.map(\.name) == expected.map(\.name), "\(predicate)")
            let sorted = try await storage.fetch(Query(where: predicate, sortedBy: SortDescriptor(\.rank))).objects
            let ranked = expected.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
            #expect(sorted.map(\.name) == ranked.map(\.element.name), "\(predicate)")
        }
    }

    @Test func `A type that decodes what it encodes uses its indexes`() async throws {
        // Otherwise the other tests would pass without any index.
        var samples = TypedSamples(random: SeededGenerator(seed: Seed.current))
        let coder = JSONObjectCoder()
        for _ in 0..<40 where !coder.trusts.isComplete(for: TypedRecord.self) {
            let record = try coder.decode(TypedRecord.self, from: Data(samples.record().utf8))
            coder.trusts.learn(from: record, coder: coder)
        }
        let trusted = coder.trusts.trusted(TypedRecord.indexes).map(\.storageIndex.path)
        #expect(trusted == TypedRecord.indexes.map(\.storageIndex.path))
    }
}
