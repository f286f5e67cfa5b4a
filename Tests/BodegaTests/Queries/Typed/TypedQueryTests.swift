import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

private typealias Samples = TypedSamples

/// A captured value with properties.
private struct Wanted: Codable, Sendable {
    var int: Int
    var text: String
    var flag: Bool
    var date: Date
    var maybeInt: Int?
}

@Suite("Typed queries")
struct TypedQueryTests {

    typealias Make = @Sendable (inout TypedSamples) -> Predicate<TypedRecord>

    /// Predicates of all forms that can use an index, and some that can't.
    private static let predicates: [Make] = numbers + texts + others + constants

    private static let numbers: [Make] = [
        { s in
            let x = s.pick(Samples.ints); return #Predicate { $0.int == x }
        },
        { s in
            let x = s.pick(Samples.ints); return #Predicate { $0.int != x }
        },
        { s in
            let x = s.pick(Samples.ints); return #Predicate { $0.int < x }
        },
        { s in
            let x = s.pick(Samples.ints); return #Predicate { x <= $0.int }
        },
        { s in
            let x = s.pick(Samples.ints); return #Predicate { !($0.int > x) }
        },
        { s in
            let x: Int? = s.pick(Samples.ints + [nil]); return #Predicate { $0.maybeInt == x }
        },
        { s in
            let x: Int? = s.pick(Samples.ints + [nil]); return #Predicate { $0.maybeInt != x }
        },
        { _ in #Predicate { $0.maybeInt == nil } },
        { _ in #Predicate { $0.maybeInt != nil } },
        { s in
            let x = s.pick(Samples.ints); return #Predicate { ($0.maybeInt ?? 1) < x }
        },
        { s in
            let x = s.pick([0, 1, 7, 255] as [UInt8]); return #Predicate { $0.small >= x }
        },
        { s in
            let x = s.pick(Samples.bigs); return #Predicate { $0.big == x }
        },
        { s in
            let x = s.pick(Samples.bigs); return #Predicate { $0.big < x }
        },
        { s in
            let x = s.pick(Samples.bigs); return #Predicate { $0.big >= x }
        },
        { s in
            let x = s.pick(Samples.doubles + [.nan, .infinity, -.infinity]); return #Predicate { $0.double == x }
        },
        { s in
            let x = s.pick(Samples.doubles + [.nan, .infinity, -.infinity]); return #Predicate { $0.double != x }
        },
        { s in
            let x = s.pick(Samples.doubles + [.nan, .infinity, -.infinity]); return #Predicate { $0.double < x }
        },
        { s in
            let x = s.pick(Samples.doubles + [.nan, .infinity, -.infinity]); return #Predicate { $0.double >= x }
        },
        { s in
            let x = s.pick(Samples.doubles); return #Predicate { $0.maybeDouble == x }
        },
        { _ in #Predicate { $0.maybeDouble == nil } },
        { s in
            let x = s.pick(Samples.floats + [.nan]); return #Predicate { $0.float == x }
        },
        { s in
            let x = s.pick(Samples.floats); return #Predicate { $0.float != x }
        },
        { s in
            let x = s.pick(Samples.floats); return #Predicate { $0.float <= x }
        },
        { s in
            let x = s.pick(Samples.floats); return #Predicate { $0.float > x }
        },
        { s in
            let x = s.pick(Samples.dates); return #Predicate { $0.date == x }
        },
        { s in
            let x = s.pick(Samples.dates); return #Predicate { $0.date < x }
        },
        { s in
            let x = s.pick(Samples.dates); return #Predicate { $0.date >= x }
        },
        { s in
            let x: Date? = s.pick(Samples.dates + [nil]); return #Predicate { $0.maybeDate == x }
        },
        { s in
            let x = [s.pick(Samples.ints), s.pick(Samples.ints), 2]; return #Predicate { x.contains($0.int) }
        },
        { s in
            let x = s.pick(Samples.ints); return #Predicate { !([x, 1] as [Int]).contains($0.int) }
        },
        { _ in
            let x: [Int] = []; return #Predicate { x.contains($0.int) }
        },
        { s in
            let x: [Int?] = [nil, s.pick(Samples.ints)]; return #Predicate { x.contains($0.maybeInt) }
        },
        { s in
            let x = -1...s.pick([0, 1, 7]); return #Predicate { x.contains($0.int) }
        },
    ]

    private static let texts: [Make] = [
        { s in
            let x = s.pick(Samples.texts); return #Predicate { $0.text == x }
        },
        { s in
            let x = s.pick(Samples.texts); return #Predicate { $0.text != x }
        },
        { s in
            let x = s.pick(Samples.texts); return #Predicate { $0.text < x }
        },
        { s in
            let x = s.pick(Samples.texts); return #Predicate { $0.text >= x }
        },
        { s in
            let x = s.pick(Samples.texts); return #Predicate { x > $0.text }
        },
        { s in
            let x: String? = s.pick(Samples.texts + [nil]); return #Predicate { $0.maybeText == x }
        },
        { s in
            let x: String? = s.pick(Samples.texts + [nil]); return #Predicate { $0.maybeText != x }
        },
        { s in
            let x = s.pick(Samples.texts); return #Predicate { $0.text.starts(with: x) }
        },
        { s in
            let x = s.pick(Samples.texts); return #Predicate { !$0.text.starts(with: x) }
        },
        { s in
            let x = s.pick(Samples.texts); return #Predicate { $0.text.contains(x) }
        },
        { s in
            let x = s.pick(Samples.texts); return #Predicate { $0.owner.name == x }
        },
        { s in
            let x = s.pick(Samples.texts); return #Predicate { $0.maybeOwner?.name == x }
        },
        { s in
            let x = Set([s.pick(Samples.texts), s.pick(Samples.texts), "\u{E9}"]);
            return #Predicate { x.contains($0.text) }
        },
    ]

    private static let others: [Make] = [
        { _ in #Predicate { $0.flag } },
        { _ in #Predicate { !$0.flag } },
        { s in
            let x = s.pick([true, false]); return #Predicate { $0.flag == x }
        },
        { s in
            let x = s.pick([true, false]); return #Predicate { $0.flag != x }
        },
        { s in
            let x: Bool? = s.pick([true, false, nil]); return #Predicate { $0.maybeFlag == x }
        },
        { s in
            let x: Bool? = s.pick([true, false, nil]); return #Predicate { $0.maybeFlag != x }
        },
        { _ in #Predicate { $0.maybeFlag ?? true } },
        { s in
            let x = s.pick(Samples.ids); return #Predicate { $0.id == x }
        },
        { s in
            let x = s.pick(Samples.ids); return #Predicate { $0.id != x }
        },
        { s in
            let x = s.pick(Samples.ids); return #Predicate { $0.maybeID == x }
        },
        { s in
            let x = s.pick(Samples.ids); return #Predicate { $0.maybeID != x }
        },
        { s in
            let x = [s.pick(Samples.ids), s.pick(Samples.ids)]; return #Predicate { x.contains($0.id) }
        },
        { s in
            let x = s.pick(TypedRecord.Color.allCases); return #Predicate { $0.color == x }
        },
        { s in
            let x = s.pick(TypedRecord.Color.allCases); return #Predicate { $0.color != x }
        },
        { s in
            let x = s.pick(TypedRecord.Color.allCases); return #Predicate { $0.maybeColor == x }
        },
        { s in
            let x = s.pick(TypedRecord.Level.allCases); return #Predicate { $0.level == x }
        },
        { s in
            let x = s.pick([1, 2]); return #Predicate { $0.owner.rank == x }
        },
        { _ in #Predicate { $0.owner.rank == nil } },
        { _ in #Predicate { $0.maybeOwner == nil } },
        { s in
            let x = wanted(&s); return #Predicate { $0.int >= x.int && $0.text != x.text }
        },
        { s in
            let x = wanted(&s); return #Predicate { $0.flag == x.flag || $0.date < x.date }
        },
        { s in
            let x = wanted(&s); return #Predicate { $0.maybeInt == x.maybeInt }
        },
        { s in
            let x = wanted(&s); return #Predicate { x.flag && $0.int > x.int }
        },
        { s in
            let x = s.pick(Samples.ints); return #Predicate { $0.int == x || $0.maybeInt == nil }
        },
        { s in
            let x = s.pick(Samples.ints); return #Predicate { !($0.int == x && $0.flag) }
        },
        { s in
            let x = s.pick(Samples.ints); return #Predicate { $0.int > x && $0.int < 7 && !($0.int == 1) }
        },
        { s in
            let x = s.pick(Samples.ints);
            return #Predicate { ($0.int > x || $0.text == "a") && ($0.flag || $0.small == 7) }
        },
        { _ in #Predicate { _ in true } },
        { _ in #Predicate { _ in false } },
        { _ in #Predicate { if $0.flag { $0.int > 0 } else { $0.int < 0 } } },
    ]

    private static func wanted(_ samples: inout Samples) -> Wanted {
        Wanted(
            int: samples.pick(Samples.ints), text: samples.pick(Samples.texts), flag: samples.chance(50),
            date: samples.pick(Samples.dates), maybeInt: samples.pick(Samples.ints + [nil]))
    }

    private static let orders: [[SortDescriptor<TypedRecord>]] = [
        [], [SortDescriptor(\.int)], [SortDescriptor(\.int, order: .reverse)], [SortDescriptor(\.maybeDouble)],
        [SortDescriptor(\.date, order: .reverse)],
        [SortDescriptor(\.small), SortDescriptor(\.double, order: .reverse)],
        [SortDescriptor(\.owner.rank, order: .reverse)], [SortDescriptor(\.big), SortDescriptor(\.int)],
        [SortDescriptor(\.maybeInt, order: .reverse), SortDescriptor(\.date)],
    ]

    private typealias Record = (key: CacheKey, object: TypedRecord)

    /// The keys of the matches in order: what Foundation's `sorted(using:)` returns, but without values last.
    private func expected(_ records: [Record], _ predicate: Predicate<TypedRecord>, _ order: Int) throws -> [CacheKey] {
        let lacksValue: (TypedRecord) -> Bool
        switch order {
        case 3: lacksValue = { $0.maybeDouble == nil }
        case 6: lacksValue = { $0.owner.rank == nil }
        case 8: lacksValue = { $0.maybeInt == nil }
        default: lacksValue = { _ in false }
        }
        let descriptors = Self.orders[order]
        func sorted(_ records: [Record]) -> [CacheKey] {
            records.sorted { left, right in
                let results = descriptors.lazy.map { $0.compare(left.object, right.object) }
                return results.first { $0 != .orderedSame } == .orderedAscending
            }.map(\.key)
        }
        let matches = try records.filter { try predicate.evaluate($0.object) }
        return sorted(matches.filter { !lacksValue($0.object) }) + sorted(matches.filter { lacksValue($0.object) })
    }

    private func query(_ predicate: Predicate<TypedRecord>, _ order: Int) -> Query<TypedRecord> {
        let terms = Self.orders[order]
        switch terms.count {
        case 0: return Query(where: predicate)
        case 1: return Query(where: predicate, sortedBy: terms[0])
        default: return Query(where: predicate, sortedBy: terms[0], terms[1])
        }
    }

    @Test("find what their predicates accept, with and without indexes")
    func agreement() async throws {
        print("typed queries: EMPORIUM_SEED=\(Seed.current)")
        var samples = Samples(random: SeededGenerator(seed: Seed.current))
        let folder = TemporaryFolder()
        let sqlite = try SQLiteStorageEngine(opening: folder.directory)
        let engines: [any StorageEngine] = [
            MemoryStorageEngine(), sqlite,
            DiskStorageEngine(directory: FileManager.Directory(url: folder.file("disk"))),
        ]
        let texts = (0..<60).map { _ in samples.record() }
        let keys = texts.indices.map { CacheKey(verbatim: "\($0)") }
        for engine in engines { try await engine.write(zip(keys, texts).map { ($0, Data($1.utf8)) }) }
        try await ObjectStorage<TypedRecord>(storage: sqlite).createIndexes()
        #expect(try await sqlite.fetchIndexes().count == TypedRecord.indexes.count)
        let records = try zip(keys, texts).map { key, text in
            let object = try? JSONObjectCoder.json.decode(TypedRecord.self, from: Data(text.utf8))
            return (key, try #require(object, "\(text)"))
        }
        let places = Dictionary(uniqueKeysWithValues: records)
        var defects = 0
        for number in 0..<max(Self.predicates.count, TestSizes.queries / 20) {
            let predicate = Self.predicates[number % Self.predicates.count](&samples)
            let order = Int.random(in: 0..<Self.orders.count, using: &samples.random)
            let query = query(predicate, order)
            let engine = engines[[1, 0, 1, 2][number % 4]]
            let ordered = engine is DiskStorageEngine ? try await engine.fetchKeys().map { ($0, places[$0]!) } : records
            let expected = try expected(ordered, predicate, order)
            if let defect = try await defect(
                of: engine, query, expecting: expected, pages: samples.pick([3, 17, .max]))
            {
                Issue.record(
                    """
                    seed \(Seed.current), case \(number), \(type(of: engine)), order \(order), predicate \
                    \(number % Self.predicates.count) \(predicate): \(defect)
                    """
                )
                defects += 1
                if defects == 10 { return }
            }
        }
    }

    private func defect(
        of engine: any StorageEngine, _ query: Query<TypedRecord>, expecting expected: [CacheKey], pages size: Int
    ) async throws -> String? {
        let storage = ObjectStorage<TypedRecord>(storage: engine)
        var found: [CacheKey] = []
        var cursor: QueryCursor?
        repeat {
            let page = try await storage.fetch(query, limit: size, after: cursor)
            found += page.objectsAndKeys.map(\.key)
            cursor = page.next
        } while cursor != nil && found.count <= expected.count
        if found != expected {
            return
                """
                found \(found.map(\.rawValue)), expected \(expected.map(\.rawValue)): \
                \(Set(found).symmetricDifference(expected).map(\.rawValue))
                """
        }
        let count = try await storage.count(query)
        if count != expected.count { return "counted \(count) of \(expected.count)" }
        if try await storage.first(query)?.key != expected.first { return "another first one" }
        if try await storage.exists(query) == expected.isEmpty { return "exists is wrong" }
        return nil
    }

    @Test("find large integers in any spelling")
    func largeIntegers() async throws {
        struct Number: Codable, Queryable {
            var number: Int
            static let indexes = [Index("number", \Number.number)]
        }
        let folder = TemporaryFolder()
        let sqlite = try SQLiteStorageEngine(opening: folder.directory)
        try await ObjectStorage<Number>(storage: sqlite).createIndexes()
        let bound = 9_007_199_254_740_992
        let texts = [-2, -1, 0, 1, 2, 3].flatMap { offset in
            ["\(bound + offset)", "\(bound + offset).0", "\(bound + offset)e0"].map { "{\"number\":\($0)}" }
        }
        for engine in [MemoryStorageEngine(), sqlite] as [any StorageEngine] {
            let storage = ObjectStorage<Number>(storage: engine)
            for (index, text) in texts.enumerated() {
                try await engine.write(Data(text.utf8), key: CacheKey("\(index)"))
            }
            let numbers = try await storage.fetch(Query<Number>()).objects.map(\.number)
            for constant in bound - 3...bound + 4 {
                let equal = Query<Number>(where: #Predicate { $0.number == constant })
                #expect(try await storage.fetch(equal).objects.count == numbers.count { $0 == constant }, "\(constant)")
                #expect(try await storage.count(equal) == numbers.count { $0 == constant }, "\(constant)")
                let less = Query<Number>(where: #Predicate { $0.number < constant })
                #expect(try await storage.count(less) == numbers.count { $0 < constant }, "\(constant)")
                let others = Query<Number>(where: #Predicate { $0.number != constant })
                #expect(try await storage.count(others) == numbers.count { $0 != constant }, "\(constant)")
            }
        }
    }
}
