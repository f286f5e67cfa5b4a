import BodegaTesting
import Foundation
import RecordCoder
import TestSupport
import Testing

@testable import Bodega

/// Items in all engines, and in an array.
private final class QueriedItems {
    struct Item {
        let key: CacheKey
        var document: ModelSamples.Document
    }

    /// In insertion order.
    private(set) var items: [Item] = []
    let engines: [(name: String, engine: any StorageEngine)]
    private var nextKey = 0
    private let folder = TemporaryFolder()

    static let indexes = ModelSamples.paths.map { path in
        StorageIndex.path(
            of: path.map { step in
                guard case .name(let name) = step else { return "" }
                return name
            })
    }

    init() async throws {
        let plain = try SQLiteStorageEngine(opening: folder.directory, databaseFilename: "plain", durability: .relaxed)
        let valued = try SQLiteStorageEngine(
            opening: folder.directory, databaseFilename: "valued", durability: .relaxed)
        let textual = try SQLiteStorageEngine(
            opening: folder.directory, databaseFilename: "textual", durability: .relaxed)
        let disk = DiskStorageEngine(directory: FileManager.Directory(url: folder.file("disk")))
        for path in Self.indexes {
            try await valued.createIndex(StorageIndex(path, isForText: false))
            try await textual.createIndex(StorageIndex(path, isForText: true))
        }
        engines = [
            ("memory", MemoryStorageEngine()), ("SQLite", plain), ("SQLite with indexes", valued),
            ("SQLite with indexes for text", textual), ("disk", disk),
        ]
    }

    func removeAll() async throws {
        for (_, engine) in engines { try await engine.removeAllData() }
        items = []
    }

    func add(_ documents: [ModelSamples.Document]) async throws {
        let added = documents.map { document in
            nextKey += 1
            return Item(key: CacheKey(verbatim: "item \(nextKey)"), document: document)
        }
        try await write(added)
    }

    /// Writes, removes, or removes and writes again.
    func change(_ samples: inout ModelSamples) async throws {
        switch Int.random(in: 0..<4, using: &samples.random) {
        case 0:
            try await add((0..<Int.random(in: 1...4, using: &samples.random)).map { _ in samples.document() })
        case 1:
            let changed = items.shuffled(using: &samples.random).prefix(5).map {
                Item(key: $0.key, document: samples.document())
            }
            try await write(Array(changed))
        case 2:
            try await remove(items.shuffled(using: &samples.random).prefix(3).map(\.key))
        default:
            let moved = Array(items.shuffled(using: &samples.random).prefix(2))
            try await remove(moved.map(\.key))
            try await write(moved)
        }
    }

    private func write(_ written: [Item]) async throws {
        for (_, engine) in engines { try await engine.write(written.map { ($0.key, $0.document.bytes) }) }
        for item in written {
            if let index = items.firstIndex(where: { $0.key == item.key }) {
                items[index] = item
            } else {
                items.append(item)
            }
        }
    }

    private func remove(_ keys: [CacheKey]) async throws {
        for (_, engine) in engines { try await engine.remove(keys: keys) }
        items.removeAll { keys.contains($0.key) }
    }

    /// The items in the order of an engine's keys, which is that of insertion in all but one.
    func items(in engine: any StorageEngine) async throws -> [Item] {
        guard engine is DiskStorageEngine else { return items }
        let found = Dictionary(uniqueKeysWithValues: items.map { ($0.key, $0) })
        return try await engine.fetchKeys().map { try #require(found[$0]) }
    }
}

/// A query in the form of a test, and in that of the package.
private struct QueryCase: CustomStringConvertible {
    let filter: ModelFilter?
    let order: [ModelSamples.Term]
    let fewCandidates: Int
    let pageSize: Int

    init(_ samples: inout ModelSamples) {
        filter = samples.chance(85) ? samples.filter() : nil
        order = samples.order()
        fewCandidates = samples.pick([10_000, 10_000, 4, 0])
        pageSize = samples.pick([1, 2, 3, 5, 10, .max])
    }

    var description: String {
        let terms = order.map { "\(ModelFilter.text(of: $0.path)) \($0.isDescending ? "descending" : "ascending")" }
        return "\(filter?.text ?? "all") by \(terms), pages of \(pageSize), few are \(fewCandidates)"
    }

    /// The keys of the matches.
    func expected(of items: [QueriedItems.Item]) -> [CacheKey] {
        let matches = items.compactMap { item -> (key: CacheKey, terms: [ModelKey])? in
            guard let value = item.document.value, filter?.accepts(value) ?? true else { return nil }
            return (item.key, order.map { ModelKey(value[$0.path]) })
        }
        let sorted = matches.enumerated().sorted { left, right in
            for (index, term) in order.enumerated() {
                let (first, second) = (left.element.terms[index], right.element.terms[index])
                let result = first.compare(second)
                if result == 0 { continue }
                if first.isNone || second.isNone { return second.isNone }
                return term.isDescending ? result > 0 : result < 0
            }
            return left.offset < right.offset
        }
        return sorted.map(\.element.key)
    }

    func query() throws -> StorageQuery<Void> {
        let filter = try filter.map { try JSONFilterParser.parse($0.text) }
        let paths = order.map {
            StorageIndex.path(of: $0.path.map { if case .name(let name) = $0 { name } else { "" } })
        }
        var query = StorageQuery<Void>(
            condition: filter?.condition ?? .opaque,
            order: zip(paths, order).map { QueryTerm(path: $0, isDescending: $1.isDescending) },
            examine: { entry in
                entry.data.withUnsafeBytes { bytes in
                    guard isValidUTF8(bytes), let range = JSONScanner.document(bytes),
                        filter?.accepts(bytes, range) ?? true
                    else { return .unwanted }
                    return .wanted(
                        paths.map { StorageSortKey(bytes, StorageIndex($0).query.find(in: bytes, range)) }, ())
                }
            })
        query.fewCandidates = fewCandidates
        return query
    }

    /// Compares what an engine finds with what it should find.
    ///
    /// - Returns: What is wrong, `nil` if nothing is.
    func defect(of engine: any StorageEngine, _ items: [QueriedItems.Item]) async throws -> String? {
        let expected = expected(of: items)
        let query = try query()
        let engine = engine.queryable.engine
        // At most some pages, because each of them reads items again.
        let pageSize = max(pageSize, expected.count / 6)
        var found: [CacheKey] = []
        var place: QueryPlace?
        var plans: [String] = []
        repeat {
            let page = try await query.page(from: engine, limit: pageSize, after: place)
            plans.append(page.plan.explanation)
            found += page.matches.map(\.key)
            place = page.hasMore ? page.matches.last?.place : nil
            if page.hasMore, page.matches.count != pageSize { return "a page of \(page.matches.count) of \(pageSize)" }
        } while place != nil && found.count <= expected.count
        if found != expected { return "\(plans.last ?? ""): found \(found), expected \(expected)" }
        let count = try await query.count(in: engine)
        // The index of SQLite may count these.
        let others = items.count { $0.document.isNearlyJSON }
        if !(expected.count...expected.count + others ~= count) { return "counted \(count) of \(expected.count)" }
        let first = try await query.page(from: engine, limit: 0, after: nil)
        if first.hasMore != !expected.isEmpty || !first.matches.isEmpty { return "a limit of 0 finds \(first)" }
        return nil
    }
}

@Suite("Random queries", .timeLimit(.minutes(600)))
struct DifferentialQueryTests {

    /// The number of cases in `EMPORIUM_QUERY_CASES`.
    static let cases = ProcessInfo.processInfo.environment["EMPORIUM_QUERY_CASES"].flatMap { Int($0) } ?? 2_000

    @Test("find the same in every engine as a naive search")
    func agreement() async throws {
        print("random queries: EMPORIUM_SEED=\(Seed.current)")
        var samples = ModelSamples(seed: Seed.current)
        let items = try await QueriedItems()
        var number = 0
        var defects = 0
        while number < Self.cases {
            samples.beginRound()
            try await items.removeAll()
            let size = samples.pick([0, 1, 5, 20, 30, 30, 30, 30, 30, 150])
            let documents = (0..<size).map { _ in samples.document() }
            try await items.add(documents)
            for _ in 0..<40 where number < Self.cases {
                if samples.chance(20) { try await items.change(&samples) }
                let query = QueryCase(&samples)
                number += 1
                let (name, engine) = items.engines[[0, 1, 2, 2, 2, 3, 3, 3, 4][number % 9]]
                let defect: String?
                do {
                    defect = try await query.defect(of: engine, items.items(in: engine))
                } catch {
                    defect = "\(error)"
                }
                if let defect {
                    Issue.record("seed \(Seed.current), case \(number), \(name): \(query): \(defect)")
                    defects += 1
                    if defects == 10 { return }
                }
            }
        }
    }
}
