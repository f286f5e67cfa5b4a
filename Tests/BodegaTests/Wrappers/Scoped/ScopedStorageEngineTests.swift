import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// What a client sees through a scope is what a naive program sees that filters all items first.
@Suite struct ScopedStorageEngineTests {

    struct Note: Codable, Hashable, Sendable, Queryable {
        var owner: String
        var rank: Int
        var text: String

        static let indexes = [Index("rank", \Note.rank), Index("owner", \Note.owner)]
        static let searchable = [Searchable("text", \Note.text)]
    }

    /// All items of the collection, in insertion order.
    struct Items {
        var all: [(key: CacheKey, data: Data)] = []

        mutating func set(_ key: CacheKey, _ data: Data?) {
            let place = all.firstIndex { $0.key == key }
            switch (place, data) {
            case (let place?, let data?): all[place].data = data
            case (let place?, nil): all.remove(at: place)
            case (nil, let data?): all.append((key, data))
            case (nil, nil): break
            }
        }

        func data(_ key: CacheKey) -> Data? { all.first { $0.key == key }?.data }

        var visible: [(key: CacheKey, data: Data)] { all.filter { Self.isVisible($0.data) } }

        static func isVisible(_ data: Data) -> Bool {
            do {
                let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
                return object?["owner"] as? String == "ada"
            } catch {
                return false
            }
        }
    }

    /// A client that follows changes.
    struct Reader {
        var items: [CacheKey: Data]
        var cursor: StorageCursor
        /// The keys that were in the scope at any time since the cursor.
        var known: Set<CacheKey> = []
    }

    private static let keys = (0..<12).map { CacheKey(verbatim: "key \($0)") }
    private static let scope = #"@.owner == "ada""#

    private let folder = TemporaryFolder()

    private func sqlite() throws -> SQLiteStorageEngine {
        try SQLiteStorageEngine(openingFile: folder.file("items"), durability: .relaxed)
    }

    @Test(arguments: [false, true], [false, true])
    func `Each read and write is that of a collection with the items of the scope only`(
        isInMemory: Bool, hasIndexes: Bool
    ) async throws {
        print("scopes: EMPORIUM_SEED=\(Seed.current)")
        var generator = SeededGenerator(seed: Seed.current)
        let base: any StorageBackend = isInMemory ? MemoryStorageEngine() : try sqlite()
        let scoped = base.scoped(to: try StorageScope(matching: Self.scope))
        if hasIndexes { try await ObjectStorage<Note>(storage: base, coder: .json).createIndexes() }
        var (items, readers) = (Items(), [Reader]())
        for step in 0..<TestSizes.wrappedModelSteps {
            try await change(&items, base, scoped, &generator)
            for number in readers.indices { readers[number].known.formUnion(items.visible.map(\.key)) }
            if step % 7 == 0 {
                let snapshot = try await scoped.fetchSnapshot()
                #expect(snapshot.items.map(\.data) == items.visible.map(\.data))
                readers.append(
                    Reader(
                        items: Dictionary(uniqueKeysWithValues: snapshot.items.map { ($0.key, $0.data) }),
                        cursor: step % 2 == 0 ? snapshot.cursor : try await scoped.fetchCursor(),
                        known: Set(items.visible.map(\.key))))
            }
            if let number = readers.indices.randomElement(using: &generator) {
                try await follow(&readers[number], items, scoped)
                if readers.count > 5 { readers.remove(at: number) }
            }
            try await compareItems(items, scoped)
            if step % 5 == 0 { try await compareQueries(items, scoped, &generator) }
        }
    }

    private static func note(_ owner: String, _ generator: inout SeededGenerator) throws -> Data {
        let words = ["river", "stone", "lamp", "river stone"]
        let note = Note(
            owner: owner, rank: .random(in: 0..<6, using: &generator),
            text: words.randomElement(using: &generator) ?? "")
        return try JSONEncoder().encode(note)
    }

    /// Makes a random change, of the client or of others.
    private func change(
        _ items: inout Items, _ base: any StorageBackend, _ scoped: ScopedStorageEngine,
        _ generator: inout SeededGenerator
    ) async throws {
        let key = try #require(Self.keys.randomElement(using: &generator))
        let owner = ["ada", "bob"].randomElement(using: &generator) ?? ""
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<5:
            let data = try Self.note(owner, &generator)
            try await base.write(data, key: key)
            items.set(key, data)
        case 5:
            let data = Data(#"{"owner":"ada""#.utf8)
            try await base.write(data, key: key)
            items.set(key, data)
        case 6, 7:
            try await base.remove(key: key)
            items.set(key, nil)
        case 8:
            try await base.removeAllData()
            items.all = []
        case 9..<14:
            let data = try Self.note(owner, &generator)
            let isAllowed = Items.isVisible(data) && (items.data(key).map(Items.isVisible) ?? true)
            let own = try #require(Self.keys.randomElement(using: &generator))
            // The whole batch has no effect, or all of it has.
            let removal = own == key ? [] : [StorageOperation.remove(key: own)]
            do {
                try await scoped.apply(removal + [.write(key: key, data: data)])
                #expect(isAllowed)
                if own != key, items.data(own).map(Items.isVisible) ?? false { items.set(own, nil) }
                items.set(key, data)
            } catch let error as StorageError {
                #expect(!isAllowed && error.code == .permissionDenied && error.key == key)
            }
        case 14, 15:
            try await scoped.remove(key: key)
            if items.data(key).map(Items.isVisible) ?? false { items.set(key, nil) }
        case 16:
            try await scoped.removeAllData()
            for item in items.visible { items.set(item.key, nil) }
        default:
            let seen = items.data(key).flatMap { Items.isVisible($0) ? $0 : nil }
            let wrong = try Self.note("ada", &generator)
            let expected = Bool.random(using: &generator) ? seen : wrong
            let other = try #require(Self.keys.randomElement(using: &generator))
            let wasApplied = try await scoped.apply(
                [.remove(key: other)], if: [StorageCondition(key: key, data: expected)])
            #expect(wasApplied == (expected == seen))
            if wasApplied, items.data(other).map(Items.isVisible) ?? false { items.set(other, nil) }
        }
        let stored = try await base.fetchAll()
        #expect(Set(stored.map(\.key)) == Set(items.all.map(\.key)))
        #expect(stored.map(\.data) == items.all.map(\.data))
    }

    private func compareItems(_ items: Items, _ scoped: ScopedStorageEngine) async throws {
        let visible = items.visible
        let byKey = Dictionary(uniqueKeysWithValues: visible.map { ($0.key, $0.data) })
        let found = Self.keys.filter { byKey[$0] != nil }
        for key in Self.keys {
            #expect(try await scoped.fetch(key: key) == byKey[key])
            #expect(try await scoped.fetchStream(key: key)?.data() == byKey[key])
            #expect(try await (scoped.fetchDates(key: key) != nil) == (byKey[key] != nil))
        }
        #expect(try await scoped.fetch(keys: Self.keys).map(\.data) == found.compactMap { byKey[$0] })
        #expect(try await scoped.fetchKeys(among: Self.keys) == found)
        #expect(try await scoped.fetchItems(keys: Self.keys).map(\.key) == found)
        #expect(try await scoped.fetchAll().map(\.data) == visible.map(\.data))
        #expect(try await scoped.fetchKeys() == visible.map(\.key))
        #expect(try await scoped.fetchAllDates().map(\.key) == visible.map(\.key))
        #expect(try await scoped.fetchCount() == visible.count)
        let part = try await scoped.count(.all(after: nil), upTo: 2)
        #expect(part == min(visible.count, 2))
    }

    /// Compares queries with those of a collection that has nothing but the items of the scope.
    private func compareQueries(
        _ items: Items, _ scoped: ScopedStorageEngine, _ generator: inout SeededGenerator
    ) async throws {
        let alone = MemoryStorageEngine()
        for item in items.visible { try await alone.write(item.data, key: item.key) }
        let (found, expected) = (
            ObjectStorage<Note>(storage: scoped, coder: .json), ObjectStorage<Note>(storage: alone, coder: .json)
        )
        let rank = Int.random(in: 0..<6, using: &generator)
        let queries: [Query<Note>] = [
            Query(), Query(sortedBy: SortDescriptor(\.rank)),
            Query(where: #Predicate { $0.rank >= rank }, sortedBy: SortDescriptor(\.rank, order: .reverse)),
            Query(where: #Predicate { $0.owner != "ada" }), try Query(matching: #"@.owner == "bob" || @.rank < 3"#),
            Query().searching("stone"), Query(sortedBy: SortDescriptor(\.text)).searching("riv*"),
        ]
        for query in queries {
            var (pages, cursor): ([Note], QueryCursor?) = ([], nil)
            repeat {
                let page = try await found.fetch(query, limit: 3, after: cursor)
                pages += page.objects
                cursor = page.next
            } while cursor != nil
            #expect(try await pages == expected.fetch(query).objects)
            #expect(try await found.fetch(query).objects == expected.fetch(query).objects)
            #expect(try await found.count(query) == expected.count(query))
            #expect(try await found.first(query)?.key == expected.first(query)?.key)
            #expect(try await found.exists(query) == expected.exists(query))
            #expect(try await found.sum(of: \.rank, query) == expected.sum(of: \.rank, query))
            #expect(try await found.maximum(of: \.rank, query) == expected.maximum(of: \.rank, query))
        }
        #expect(try await found.values(of: \.owner).map(\.value) == expected.values(of: \.owner).map(\.value))
    }

    /// Lets a client follow the changes: it knows what is in the scope, and is told of nothing else.
    private func follow(_ reader: inout Reader, _ items: Items, _ scoped: ScopedStorageEngine) async throws {
        let delta = try #require(try await scoped.fetchChangedItems(since: reader.cursor, excluding: nil))
        let now = Dictionary(uniqueKeysWithValues: items.visible.map { ($0.key, $0.data) })
        let written = Dictionary(delta.items.map { ($0.key, $0.data) }) { $1 }
        #expect(reader.known.isSuperset(of: delta.changes.map(\.key)))
        let last = Dictionary(delta.changes.map { ($0.key, $0.kind) }) { $1 }
        for (key, kind) in last {
            #expect((kind == .written) == (now[key] != nil))
            #expect(written[key] == now[key])
            reader.items[key] = written[key]
        }
        reader.cursor = delta.cursor
        reader.known = Set(now.keys)
        #expect(reader.items == now)
        let next = try await scoped.fetchChanges(since: reader.cursor, excluding: nil)
        #expect(next?.changes.isEmpty == true)
    }

    @Test func `A client is not told of an item that it has not seen, nor of one that has left, again`() async throws {
        let base = MemoryStorageEngine()
        let scoped = base.scoped(to: try StorageScope(matching: Self.scope))
        let (own, other) = (Data(#"{"owner":"ada"}"#.utf8), Data(#"{"owner":"bob"}"#.utf8))
        let (a, b) = (CacheKey(verbatim: "a"), CacheKey(verbatim: "b"))
        let start = try await scoped.fetchCursor()
        try await base.write(own, key: a)
        try await base.write(other, key: b)
        let middle = try #require(try await scoped.fetchChanges(since: start, excluding: nil))
        #expect(middle.changes.map(\.key) == [a])
        try await base.write(other, key: a)
        try await base.write(own, key: b)
        let moved = try #require(try await scoped.fetchChanges(since: middle.cursor, excluding: nil))
        #expect(moved.changes.map(\.key) == [a, b])
        #expect(moved.changes.map(\.kind) == [.removed, .written])
        try await base.write(other, key: a)
        let last = try #require(try await scoped.fetchChanges(since: moved.cursor, excluding: nil))
        #expect(last.changes.isEmpty)
        // A reader from before sees all of it.
        let all = try #require(try await scoped.fetchChanges(since: start, excluding: nil))
        #expect(all.changes.map(\.key) == [a, a, b])
        // The removal of another client's item under a key is not reported to one that gets an item under it then.
        try await base.remove(key: a)
        try await base.write(own, key: a)
        let written = try #require(try await scoped.fetchChanges(since: last.cursor, excluding: nil))
        #expect(written.changes.map(\.kind) == [.written])
        // Another engine's cursors are those of another log.
        let again = base.scoped(to: try StorageScope(matching: Self.scope))
        #expect(try await again.fetchChanges(since: start, excluding: nil) == nil)
    }

    @Test func `Each right allows what it names and nothing else`() async throws {
        let base = MemoryStorageEngine()
        let key = CacheKey(verbatim: "a")
        try await base.write(Data("1".utf8), key: key)
        for filter in [nil, "@ == 1"] {
            for raw in 0..<16 {
                let rights = StorageScope.Rights(rawValue: raw)
                let scope =
                    try filter.map { try StorageScope(matching: $0, rights: rights) } ?? StorageScope(rights: rights)
                let engine = base.scoped(to: scope)
                let canRead = rights.contains(.read)
                await expect(canRead) { _ = try await engine.fetch(key: key) }
                await expect(canRead) { _ = try await engine.fetchKeys() }
                await expect(canRead) { _ = try await engine.fetchStream(key: key) }
                await expect(canRead) { _ = try await engine.fetchItems(keys: [key]) }
                await expect(canRead) { _ = try await engine.examine() }
                await expect(rights.contains(.write)) { try await engine.write(Data("1".utf8), key: key) }
                await expect(rights.contains(.write)) {
                    try await engine.write(stream: StorageByteStream(Data("1".utf8)), key: key)
                }
                // Whether a condition is met shows whether there is an item, and which.
                await expect(rights.isSuperset(of: [.read, .write])) {
                    _ = try await engine.apply(StorageBatch([], if: [StorageCondition(key: key, data: nil)]))
                }
                #expect((engine.log != nil) == rights.isSuperset(of: [.read, .observe]))
                await expect(rights.isSuperset(of: [.read, .observe])) { _ = try await engine.fetchSnapshot() }
                await expect(rights.contains(.manage)) { try await engine.createIndex(StorageIndex("a\(raw)")) }
                await expect(rights.contains(.manage)) { try await engine.removeIndex(StorageIndex("a\(raw)")) }
            }
        }
    }

    private func expect(_ isAllowed: Bool, _ action: () async throws -> Void) async {
        do {
            try await action()
            #expect(isAllowed)
        } catch {
            #expect(!isAllowed && (error as? StorageError)?.code == .permissionDenied, "\(error)")
        }
    }

    @Test func `A removal of all items in a group with another batch of its collection is refused`() async throws {
        for base in [MemoryStorageEngine(), try sqlite()] as [any StorageBackend] {
            let scoped = base.scoped(to: try StorageScope(matching: Self.scope))
            let (old, new) = (CacheKey(verbatim: "old"), CacheKey(verbatim: "new"))
            let item = Data(#"{"owner":"ada"}"#.utf8)
            try await scoped.write(item, key: old)
            let batches = [StorageBatch([.write(key: new, data: item)]), StorageBatch([.removeAll])]
            for parts in [batches, batches.reversed()] {
                let error = await #expect(throws: StorageError.self) {
                    try await StorageBatchGroup.apply(parts.map { (scoped, $0) })
                }
                #expect(error?.code == .invalidArgument)
                #expect(try await scoped.fetchKeys() == [old])
            }
            let whole = StorageBatch(batches.flatMap(\.operations))
            #expect(try await scoped.apply(whole).value.wasApplied)
            #expect(try await scoped.fetchKeys().isEmpty)
        }
    }

    @Test func `A short scan does not begin again because of items of others`() async throws {
        let base = RecordingStorageEngine(MemoryStorageEngine())
        let scoped = base.scoped(to: try StorageScope(matching: Self.scope))
        _ = try await scoped.scan(ScanRequest(isShort: true)) { { _, _ in true } }
        let scans = base.calls.compactMap { if case .scan(let request) = $0.call { request.isShort } else { nil } }
        #expect(scans == [false])
    }

    @Test func `An item that can't be read is reported without its key`() async throws {
        let memory = MemoryStorageEngine()
        let key = CacheKey(verbatim: "secret name")
        let written = memory.encrypted(with: Keysets.keyset, collection: "a")
        try await written.write(Data(#"{"owner":"ada"}"#.utf8), key: key)
        let scoped = memory.encrypted(with: EncryptionKeyset(), collection: "a")
            .scoped(to: try StorageScope(matching: Self.scope))
        for read in [
            { _ = try await scoped.fetch(key: key) }, { _ = try await scoped.fetchAll() },
            { _ = try await scoped.fetch(keys: [key]) }, { try await scoped.removeAllData() },
        ] as [@Sendable () async throws -> Void] {
            let error = await #expect(throws: StorageError.self) { try await read() }
            #expect(error?.key == nil && error.map { !"\($0)".contains("secret") } == true)
        }
        let answer = try await scoped.fetch(FetchRequest([key], options: ReadOptions(omitsUnreadable: true)))
        #expect(answer.value.isEmpty && answer.report.unreadable.map(\.key) == [nil])
    }

    @Test func `An item of the scope that can't be decoded is named`() async throws {
        let base = MemoryStorageEngine()
        let key = CacheKey(verbatim: "a")
        try await base.write(Data(#"{"owner":"ada","rank":"high"}"#.utf8), key: key)
        let notes = ObjectStorage<Note>(
            storage: base.scoped(to: StorageScope(where: "owner", equals: "ada")), coder: .json)
        for read in [
            { _ = try await notes.fetch(Query()) },
            { _ = try await notes.fetch(Query(sortedBy: SortDescriptor(\.rank))) },
            { _ = try await notes.fetchObject(forKey: key) },
        ] as [@Sendable () async throws -> Void] {
            let error = await #expect(throws: StorageError.self) { try await read() }
            #expect(error?.key == key && error?.code == .decodingFailed)
        }
    }

    @Test func `Clients that take an item from each other never write over one that is not theirs`() async throws {
        let base = try sqlite()
        let key = CacheKey(verbatim: "a")
        // Each takes the item while it is free or its own, and gives it away; the engine of neither sees the other's.
        let count = 200
        await withTaskGroup(of: Void.self) { group in
            for owner in ["ada", "bob"] {
                group.addTask {
                    do {
                        let scoped = base.scoped(to: try StorageScope(matching: #"@.owner == "\#(owner)""#))
                        for number in 0..<count {
                            do {
                                try await scoped.write(
                                    Data(#"{"owner":"\#(owner)","number":\#(number)}"#.utf8), key: key)
                                let data = try await scoped.fetch(key: key)
                                #expect(data.map { String(decoding: $0, as: UTF8.self).contains(owner) } == true)
                                try await scoped.remove(key: key)
                            } catch let error as StorageError {
                                #expect(error.code == .permissionDenied)
                            }
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
        #expect(try await base.fetchCount() == 0)
    }
}
