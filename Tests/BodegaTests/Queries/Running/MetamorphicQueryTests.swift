import BodegaTesting
import Foundation
import RecordCoder
import TestSupport
import Testing

@testable import Bodega

/// The checks that SQLancer made known, with the package's own evaluation in place of a second database.
@Suite("Queries")
struct MetamorphicQueryTests {

    private let folder = TemporaryFolder()
    private let engine: SQLiteStorageEngine

    init() async throws {
        engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        for (number, path) in ["a", "b", "n.c"].enumerated() {
            try await engine.createIndex(StorageIndex(path, isForText: number != 1))
        }
    }

    private func query(_ filter: JSONFilter) -> StorageQuery<CacheKey> {
        StorageQuery(condition: filter.condition, order: []) { entry, receive in
            let isWanted = entry.data.withUnsafeBytes { bytes in
                isValidUTF8(bytes) && JSONScanner.document(bytes).map { filter.accepts(bytes, $0) } ?? false
            }
            if isWanted { receive(entry.key) }
            return isWanted ? [] : nil
        }
    }

    private func fill(_ samples: inout ModelSamples) async throws {
        samples.beginRound()
        let documents = (0..<60).map { _ in samples.document() }.filter { !$0.isNearlyJSON }
        try await engine.removeAllData()
        try await engine.write(documents.enumerated().map { (CacheKey(verbatim: "\($0.offset)"), $0.element.bytes) })
    }

    private func keys(_ filter: JSONFilter) async throws -> [CacheKey] {
        try await query(filter).page(from: StorageReader(engine), limit: .max, after: nil).matches
    }

    @Test("find what their conditions accept item by item: NoREC")
    func unoptimized() async throws {
        print("NoREC: EMPORIUM_SEED=\(Seed.current)")
        var samples = ModelSamples(seed: Seed.current)
        for _ in 0..<8 {
            try await fill(&samples)
            let entries = Locked<[StorageItem]>([])
            try await engine.scan([.all(after: nil)]) {
                entries.withLock { $0 = [] }
                return { _, entry in
                    entries.withLock { $0.append(entry) }
                    return true
                }
            }
            for _ in 0..<15 {
                let filter = try JSONFilterParser.parse(samples.filter().text)
                let query = query(filter)
                var accepted: [CacheKey] = []
                for entry in entries.withLock({ $0 }) { _ = try query.examine(entry) { accepted.append($0) } }
                #expect(try await keys(filter) == accepted, "seed \(Seed.current): \(filter)")
            }
        }
    }

    @Test("and their negations find all items together, and none twice: TLP")
    func partitions() async throws {
        print("TLP: EMPORIUM_SEED=\(Seed.current)")
        var samples = ModelSamples(seed: Seed.current)
        for _ in 0..<8 {
            try await fill(&samples)
            let all = try await keys(.or(.exists(JSONQuery(selectors: [])), .exists(JSONQuery(selectors: []))))
            for _ in 0..<15 {
                let filter = try JSONFilterParser.parse(samples.filter().text)
                let (found, others) = (try await keys(filter), try await keys(.not(filter)))
                #expect(Set(found).union(others) == Set(all), "seed \(Seed.current): \(filter)")
                #expect(found.count + others.count == all.count, "seed \(Seed.current): \(filter)")
                let counts = (
                    try await query(filter).count(in: StorageReader(engine)),
                    try await query(.not(filter)).count(in: StorageReader(engine))
                )
                #expect(counts == (found.count, others.count), "seed \(Seed.current): \(filter)")
                // A part and its complement of a second condition add up, too.
                let second = try JSONFilterParser.parse(samples.filter().text)
                let parts = (try await keys(.and(filter, second)), try await keys(.and(filter, .not(second))))
                #expect(Set(parts.0).union(parts.1) == Set(found), "seed \(Seed.current): \(filter), \(second)")
            }
        }
    }

    @Test("find items whose nesting is deeper than programs support")
    func depth() async throws {
        let texts = [100, 499, 500, 999, 1001].map { depth in
            "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + ",\"b\":1}"
        }
        try await engine.write(texts.enumerated().map { (CacheKey(verbatim: "\($0.offset)"), Data($0.element.utf8)) })
        let memory = MemoryStorageEngine()
        try await memory.write(try await engine.fetchAll())
        for text in ["@.a", "@.b == 1", "@.a == @.a", "@.a != 1", "@.a < 'x'"] {
            let query = query(try JSONFilterParser.parse(text))
            let found = try await query.page(from: StorageReader(engine), limit: .max, after: nil).matches
            #expect(
                found == (try await query.page(from: StorageReader(memory), limit: .max, after: nil).matches), "\(text)"
            )
            #expect(try await query.count(in: StorageReader(engine)) == found.count, "\(text)")
        }
    }

    @Test("distinguish the names of members by their scalars")
    func names() throws {
        let text = Array("{\"a\":{\"\u{E9}\":1,\"e\u{301}\":2},\"b\":{\"\u{E9}\":1},\"c\":{\"e\u{301}\":1}}".utf8)
        func accepts(_ filter: String) throws -> Bool {
            try text.withUnsafeBytes { try JSONFilterParser.parse(filter).accepts($0, 0..<$0.count) }
        }
        #expect(try accepts("length(@.a) == 2"))
        #expect(try accepts("@.b != @.c"))
    }
}
