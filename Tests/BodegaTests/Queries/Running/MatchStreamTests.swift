import BodegaTesting
import Foundation
import RecordCoder
import TestSupport
import Testing

@testable import Bodega

@Suite("A stream of matches", .unhurriedReads)
struct MatchStreamTests {

    /// A query of items such as `{"n":1}`.
    private func query(_ condition: String? = nil, sort: String? = nil, isDescending: Bool = false) throws
        -> StorageQuery<FoundItem>
    {
        let filter = try condition.map { text throws(StorageError) in try JSONFilterParser.parse(text) }
        let path = sort.map { StorageIndex.Member($0).query }
        let order = sort.map { [QueryTerm(path: $0, isDescending: isDescending)] } ?? []
        return StorageQuery(condition: filter?.condition ?? .opaque, order: order) { entry, receive in
            entry.data.withUnsafeBytes { bytes in
                guard isValidUTF8(bytes), let range = JSONScanner.document(bytes), filter?.accepts(bytes, range) ?? true
                else { return nil }
                receive((entry.key, entry.data))
                return path.map { [StorageSortKey(bytes, $0.find(in: bytes, range))] } ?? []
            }
        }
    }

    private func keys(
        of query: StorageQuery<FoundItem>, in engine: any StorageBackend, limit: Int = .max
    ) async throws -> [String] {
        var keys: [String] = []
        try await query.forEachMatchInOrder(in: StorageReader(engine), limit: limit) { matches in
            #expect(!matches.isEmpty)
            keys += matches.map(\.key.rawValue)
        }
        return keys
    }

    @Test("has the matches of a page, with and without an index, on every engine")
    func likePages() async throws {
        let folder = TemporaryFolder()
        var random = SeededGenerator(seed: Seed.current)
        let memory = MemoryStorageEngine()
        let values = ["1", "2", "2.5", "true", "null", "\"a\"", "\"\\u0062\"", "\"b\"", "[1]", "-1e300"]
        // More than one part, with many equal keys.
        let items = (0..<1300).map { number -> (key: CacheKey, data: Data) in
            let value = values.randomElement(using: &random) ?? ""
            let text = number.isMultiple(of: 97) ? "no JSON" : #"{"m":\#(number % 7),"n":\#(value)}"#
            return (CacheKey("\(number)"), Data(text.utf8))
        }
        try await memory.write(items)
        let sqlite = try SQLiteStorageEngine(opening: folder.directory)
        let indexed = try SQLiteStorageEngine(opening: folder.directory, databaseFilename: "indexed")
        try await sqlite.write(items)
        try await indexed.write(items)
        try await indexed.createIndex(StorageIndex("n", isForText: false))
        let disk = DiskStorageEngine(directory: FileManager.Directory(url: folder.file("disk")))
        try await disk.write(Array(items.prefix(60)))
        for condition in [nil, "@.n == 2", "@.n > 1 && @.m < 3", "@.m == 4", "@.n == 'b'", "@.n < 0"] {
            for (sort, isDescending) in [(nil, false), ("n", false), ("n", true), ("m", true)] {
                let query = try query(condition, sort: sort, isDescending: isDescending)
                // One limit of several for each query, to save time.
                for limit in [0, 1, 50, 1100, .max].shuffled(using: &random).prefix(1) {
                    let page = try await query.page(from: StorageReader(memory), limit: limit, after: nil).matches.map(
                        \.key.rawValue)
                    for engine in [memory, sqlite, indexed] as [any StorageBackend] {
                        let found = try await keys(of: query, in: engine, limit: limit)
                        #expect(
                            found == page, "seed \(Seed.current): \(engine) \(condition ?? "") \(sort ?? "") \(limit)")
                    }
                }
                let page = try await query.page(from: StorageReader(disk), limit: 20, after: nil)
                #expect(try await keys(of: query, in: disk, limit: 20) == page.matches.map(\.key.rawValue))
            }
        }
    }

    /// SQLite 3.40 takes them for JSON, so that they have places in the order of an index, by their bytes.
    @Test("passes over items that are not UTF-8, like a page", arguments: [false, true])
    func invalidUTF8(isDescending: Bool) async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        try await engine.createIndex(StorageIndex("n", isForText: false))
        // In the order of their bytes: "b", 5,000 texts that are not UTF-8, and "\u{AC00}". The index knows nothing
        // about the spellings with an escape.
        let spellings = ["\"b\"", "\"\u{AC00}\"", "\"\\uac00\"", "\"\\u0061\""]
        var items = spellings.enumerated().flatMap { number, spelling in
            (0..<3).map { (CacheKey("\(number)\($0)"), Data(#"{"n":\#(spelling),"m":\#(9 - $0)}"#.utf8)) }
        }
        for number in 0..<5000 {
            let text = Data([0xC1]) + Data("\(number)".utf8)
            items.append((CacheKey("invalid \(number)"), Data(#"{"n":""#.utf8) + text + Data(#""}"#.utf8)))
        }
        try await engine.write(items)
        let groups = [["30", "31", "32"], ["00", "01", "02"], ["10", "11", "12", "20", "21", "22"]]
        let expected = (isDescending ? groups.reversed() : groups).flatMap { $0 }

        let sorted = try query(sort: "n", isDescending: isDescending)
        #expect(try await keys(of: sorted, in: engine) == expected)
        let all = try await sorted.page(from: StorageReader(engine), limit: .max, after: nil)
        #expect(all.matches.map(\.key.rawValue) == expected)

        let paths = ["n", "m"].map { StorageIndex.Member($0).query }
        var twice = StorageQuery<FoundItem>(
            condition: .opaque,
            order: [QueryTerm(path: "n", isDescending: isDescending), QueryTerm(path: "m", isDescending: false)],
            examine: { entry, receive in
                entry.data.withUnsafeBytes { bytes in
                    guard isValidUTF8(bytes), let range = JSONScanner.document(bytes) else { return nil }
                    receive((entry.key, entry.data))
                    return paths.map { StorageSortKey(bytes, $0.find(in: bytes, range)) }
                }
            })
        twice.glance = { [examine = twice.examine] entry in
            try examine(entry) { _ in }.map { .keys($0, isMatch: false) } ?? .nothing
        }
        let byTwo = [["32", "31", "30"], ["02", "01", "00"], ["12", "22", "11", "21", "10", "20"]]
        var found: [String] = []
        var place: QueryPlace?
        repeat {
            let page = try await twice.page(from: StorageReader(engine), limit: 4, after: place)
            found += page.matches.map(\.key.rawValue)
            place = page.hasMore ? page.places.last : nil
        } while place != nil && found.count < 100
        #expect(found == (isDescending ? byTwo.reversed() : byTwo).flatMap { $0 })
    }

    @Test("begins before the engine is read to the end, and ends at the limit", arguments: [nil, "n"])
    func begins(sort: String?) async throws {
        let folder = TemporaryFolder()
        let sqlite = try SQLiteStorageEngine(opening: folder.directory)
        try await sqlite.write((0..<5_000).map { (CacheKey("\($0)"), Data(#"{"n":\#($0)}"#.utf8)) })
        try await sqlite.createIndex(StorageIndex("n", isForText: false))
        let engine = CountingItems(of: sqlite)
        var found = 0
        var largest = 0
        try await query(sort: sort).forEachMatchInOrder(in: StorageReader(engine)) { matches in
            found += matches.count
            largest = max(largest, matches.count)
            // What was read has been passed on.
            #expect(engine.count == found)
        }
        #expect(found == 5_000 && largest <= 1024)
        _ = engine.take()
        #expect(try await keys(of: query(sort: sort), in: engine, limit: 3) == ["0", "1", "2"])
        #expect(engine.count == 3)
    }

    @Test("passes on few large items at a time, also those that had to be sorted", arguments: [nil, "n"])
    func largeItems(sort: String?) async throws {
        let engine = MemoryStorageEngine()
        let padding = String(repeating: "x", count: 300_000)
        try await engine.write((0..<20).map { (CacheKey("\($0)"), Data(#"{"n":\#($0),"x":"\#(padding)"}"#.utf8)) })
        var sizes: [Int] = []
        try await query(sort: sort).forEachMatchInOrder(in: StorageReader(engine)) { sizes.append($0.count) }
        #expect(sizes.reduce(0, +) == 20 && sizes.allSatisfy { $0 <= 4 })
    }

    @Test("leaves out items that were removed or changed before they were passed on")
    func changes() async throws {
        let engine = MemoryStorageEngine()
        try await engine.write((0..<2000).map { (CacheKey("\($0)"), Data(#"{"n":\#(-$0)}"#.utf8)) })
        var found: [String] = []
        try await query("@.n <= 0", sort: "n").forEachMatchInOrder(in: StorageReader(engine), limit: 1500) { matches in
            if found.isEmpty {
                try await engine.remove(keys: [CacheKey("600")])
                try await engine.write(Data(#"{"n":1}"#.utf8), key: CacheKey("601"))
            }
            found += matches.map(\.key.rawValue)
        }
        let expected: [String] = stride(from: 1999, through: 500, by: -1).filter { $0 != 600 && $0 != 601 }.map {
            "\($0)"
        }
        #expect(found == expected)
    }

    @Test("goes on where it was when items are removed between its parts")
    func removals() async throws {
        let folder = TemporaryFolder()
        let disk = DiskStorageEngine(directory: FileManager.Directory(url: folder.file("disk")))
        let padding = String(repeating: "x", count: 100_000)
        try await disk.write((0..<30).map { (CacheKey("\($0)"), Data(#"{"x":"\#(padding)"}"#.utf8)) })
        var found: [String] = []
        try await query().forEachMatchInOrder(in: StorageReader(disk)) { matches in
            if found.isEmpty { try await disk.remove(keys: [CacheKey("0"), CacheKey("1")]) }
            found += matches.map(\.key.rawValue)
        }
        #expect(found == (0..<30).map(String.init))
    }
}
