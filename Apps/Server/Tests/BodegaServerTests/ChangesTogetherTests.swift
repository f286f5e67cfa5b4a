import AsyncHTTPClient
import Bodega
import BodegaRemote
import BodegaServer
import BodegaSync
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// The changes of several collections from one moment.
@Suite("Changes of several collections")
struct ChangesTogetherTests {

    @Test("More collections than a server reads together are synchronized")
    func manyCollections() async throws {
        let (database, local) = (MemoryStorageEngine(), MemoryStorageEngine())
        let names = (0..<103).map { "c\($0)" }
        let server = try await TestServer(StorageCollections { database.collection(named: $0) })
        let remote = try RemoteDatabase(server.url)
        let sync = try await StorageSync(
            local: { local.collection(named: $0) }, remote: { try await remote.collection(named: $0) })
        var engines: [SyncedStorageEngine] = []
        for name in names { engines.append(try await sync.collection(named: name)) }
        try await sync.settled()
        for (name, engine) in zip(names, engines) { try await engine.write(Data(name.utf8), key: CacheKey("k")) }
        try await database.collection(named: "c102").write(Data("other".utf8), key: CacheKey("o"))
        try await sync.settled()
        for name in names {
            #expect(try await database.collection(named: name).fetch(key: CacheKey("k")) == Data(name.utf8))
        }
        #expect(try await engines[102].fetch(key: CacheKey("o")) == Data("other".utf8))
    }

    @Test("Collections of which a client sees what matches a filter are synchronized", arguments: ["sqlite", "memory"])
    func filteredCollections(_ kind: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (open, local) = (try collections(kind), MemoryStorageEngine())
        let tokens = AccessTokens(storage: MemoryStorageEngine())
        let server = try await TestServer(access: tokens, ["a": try open("a"), "b": try open("b"), "c": try open("c")])
        let grants = [
            AccessGrant(collection: "a", matching: "@.owner == 'ada'"),
            AccessGrant(collection: "b", matching: "@.owner == 'ada'"), AccessGrant(collection: "c"),
        ]
        let token = try await tokens.create(name: "ada", grants: grants).token
        let (ada, bob) = (Data(#"{"owner":"ada"}"#.utf8), Data(#"{"owner":"bob"}"#.utf8))
        for name in ["a", "b", "c"] {
            try await open(name).write([(key: CacheKey("ada"), data: ada), (key: CacheKey("bob"), data: bob)])
        }
        let remote = try RemoteDatabase(server.url) { token }
        let sync = try await StorageSync(
            local: { local.collection(named: $0) }, remote: { try await remote.collection(named: $0) })
        let a = try await sync.collection(named: "a")
        let b = try await sync.collection(named: "b")
        let c = try await sync.collection(named: "c")
        try await sync.settled()
        #expect(try await a.fetchAll().map(\.data) == [ada])
        #expect(try await b.fetchAll().map(\.data) == [ada])
        #expect(try await c.fetchAll().map(\.data) == [ada, bob])
        // Both directions go on, also for a transaction of several collections.
        _ = try await StorageBatchGroup.apply([
            (a, StorageBatch([.write(key: CacheKey("new"), data: ada)])),
            (b, StorageBatch([.remove(key: CacheKey("ada"))])),
        ])
        try await open("b").write(ada, key: CacheKey("later"))
        try await sync.settled()
        #expect(try await open("a").fetch(key: CacheKey("new")) == ada)
        #expect(try await open("b").fetchAll().map(\.data) == [bob, ada])
        #expect(try await b.fetchAll().map(\.key) == [CacheKey("later")])
        #expect(try await sync.parked().isEmpty)
    }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    private typealias Requests = [(engine: any StorageBackend, request: ChangesRequest)]

    private func collections(_ kind: String) throws -> @Sendable (String) throws -> any StorageEngine {
        if kind == "memory" {
            let database = MemoryStorageEngine()
            return { database.collection(named: $0) }
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let database = try SQLiteStorageEngine(
            openingFile: folder.appendingPathComponent("bank.db"), durability: .relaxed)
        return { try database.collection(named: $0) }
    }

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        do { _ = try await body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    private func number(_ data: Data?) -> Int { data.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0 }

    /// What a reader knows of the collections.
    private struct Model {
        var cursors: [StorageCursor]
        var items: [[CacheKey: Int]] = [[:], [:]]

        var sum: Int { items.reduce(0) { $0 + $1.values.reduce(0, +) } }
    }

    @Test("A reader never sees a half of a transaction of four writers", arguments: ["sqlite", "memory"])
    func transactions(_ kind: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let seed = UInt64(proxySeed) ?? 0
        print("changes together: EMPORIUM_SEED=\(seed)")
        let open = try collections(kind)
        let server = try await TestServer(["a": try open("a"), "b": try open("b")])
        let remote = try RemoteDatabase(server.url)
        // One of them has wrappers, through which the request for both passes.
        let engines: [any StorageBackend] = [
            try await remote.collection(named: "a"),
            try await remote.collection(named: "b").retrying().prefixed("p").cached(count: 1),
        ]
        var model = Model(cursors: [])
        for engine in engines {
            guard let log = engine.log else { throw StorageError(.invalidArgument, "No log.") }
            model.cursors.append(try await log.fetchCursor())
        }
        let writers: [any StorageEngine] = [try open("a"), try open("b").prefixed("p")]
        let running = Running()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    defer { running.end() }
                    var random = Random(seed &+ UInt64(writer))
                    for turn in 0..<100 {
                        // The reader looks while they write, and not only before and after.
                        while turn > 5 * running.looks {
                            try Task.checkCancellation()
                            await Task.yield()
                        }
                        let (from, amount) = (random.next(below: 2), random.next(below: 9))
                        let keys = (0..<2).map { _ in CacheKey("\(random.next(below: 5))") }
                        try await move(amount, from: (writers[from], keys[0]), to: (writers[1 - from], keys[1]))
                    }
                }
            }
            // The last look comes after the last write.
            var isLast = false
            while !isLast {
                isLast = running.hasEnded
                try await follow(engines, remote, &model)
                #expect(model.sum == 0)
                running.look()
            }
            try await group.waitForAll()
        }
        for (engine, items) in zip(writers, model.items) {
            let stored = try await engine.fetchAll()
            #expect(Dictionary(uniqueKeysWithValues: stored.map { ($0.key, number($0.data)) }) == items)
        }
    }

    @Test("Together, collections answer like each of them alone, with origins, gaps and items")
    func answers() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let open = try collections("sqlite")
        let tokens = AccessTokens(storage: try open("tokens"))
        let server = try await TestServer(
            access: tokens, ["a": try open("a"), "b": try open("b"), "c": try open("c")])
        let token = try await tokens.create(name: "a", grants: [AccessGrant()]).token
        let remote = try RemoteDatabase(server.url) { token }
        var engines: [RemoteStorageEngine] = []
        for name in ["a", "b", "c"] { engines.append(try await remote.collection(named: name)) }
        var cursors: [StorageCursor] = []
        for engine in engines { cursors.append(try await engine.fetchCursor()) }
        let (own, other) = (StorageOrigin(), StorageOrigin())
        for (number, engine) in engines.enumerated() {
            let data = Data("\(number)".utf8)
            _ = try await engine.apply(StorageBatch([.write(key: CacheKey("k"), data: data)], origin: own))
            if number == 1 {
                _ = try await engine.apply(StorageBatch([.write(key: CacheKey("l"), data: data)], origin: other))
                _ = try await engine.apply(StorageBatch([.remove(key: CacheKey("m"))], origin: other))
            }
        }
        let requests: Requests = [
            (engines[0], ChangesRequest(since: cursors[0], excluding: own, needsItems: true)),
            (engines[1], ChangesRequest(since: cursors[1], excluding: own, needsItems: true, fields: [.data, .dates])),
            (engines[2], ChangesRequest(since: StorageCursor(rawValue: "none"))),
            (engines[2], ChangesRequest(since: cursors[2])),
            (engines[0], ChangesRequest(since: cursors[0], needsItems: true)),
        ]
        let together = try await remote.fetchChanges(requests)
        var single: [StorageDelta?] = []
        for (engine, request) in requests { single.append(try await engine.log?.fetchChanges(request).value) }
        #expect(together.map(\.value) == single)
        // What the answers must be.
        #expect(together.map { $0.value?.changes.map(\.key.rawValue) } == [[], ["k", "l"], nil, ["k"], ["k"]])
        // The origin of another reader is hidden.
        let origins = together[1].value?.changes.map(\.origin)
        #expect(origins?.first == own && origins?.last != own && origins?.last != other)
        #expect(together[1].value?.items.map(\.key.rawValue) == ["l"])
        #expect(together[4].value?.items.map(\.data) == [Data("0".utf8)])
        #expect(together.map { $0.value?.isComplete } == [true, true, nil, true, true])
        #expect(try await remote.fetchChanges([]).isEmpty)
    }

    @Test("Collections that can't be read from one moment are refused in a sentence")
    func refused() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let open = try collections("sqlite")
        let tokens = AccessTokens(storage: try open("tokens"))
        var limits = StorageServerLimits()
        limits.batches = 3
        let server = try await TestServer(
            access: tokens, limits: limits,
            [
                "a": try open("a"), "b": try open("b"), "other": MemoryStorageEngine(),
                "disk": DiskStorageEngine(directory: .temporary(appendingPath: UUID().uuidString)),
            ])
        func remote(_ grants: [AccessGrant]) async throws -> RemoteDatabase {
            let token = try await tokens.create(name: "a", grants: grants).token
            return try RemoteDatabase(server.url) { token }
        }
        func requests(_ remote: RemoteDatabase, _ names: [String]) async throws -> Requests {
            var requests: Requests = []
            for name in names {
                let engine = try await remote.collection(named: name)
                requests.append((engine, ChangesRequest(since: try await engine.fetchCursor())))
            }
            return requests
        }
        let all = try await remote([AccessGrant()])
        #expect(try await all.fetchChanges(requests(all, ["a", "b", "a"])).count == 3)
        #expect(await code { try await all.fetchChanges(requests(all, ["a", "b", "a", "b"])) } == .tooLarge)
        #expect(await code { try await all.fetchChanges(requests(all, ["a", "other"])) } == .invalidArgument)
        let again = try await remote([AccessGrant()])
        #expect(await code { try await again.fetchChanges(requests(all, ["a", "b"])) } == .invalidArgument)
        let filtered = try await remote([AccessGrant(collection: "a", matching: "@.x == 1"), AccessGrant()])
        let error = await #expect(throws: StorageError.self) {
            let requests = try await requests(filtered, ["a", "b"])
            _ = try await filtered.fetchChanges(requests)
        }
        #expect(error?.code == .invalidArgument && error?.message.contains("filter") ?? false)
        #expect(try await filtered.fetchChanges(requests(filtered, ["b"])).count == 1)
    }

    @Test("The route refuses what the client may not follow, and its answer ends each collection with a line")
    func route() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let open = try collections("sqlite")
        let tokens = AccessTokens(storage: try open("tokens"))
        let server = try await TestServer(access: tokens, ["a": try open("a"), "b": try open("b")])
        let cursors = [
            try await open("a").backend.fetchCursor().rawValue, try await open("b").backend.fetchCursor().rawValue,
        ]
        try await open("b").write(Data("1".utf8), key: CacheKey("k"))
        func send(_ grants: [AccessGrant], _ body: String) async throws -> (status: UInt, body: String) {
            let token = try await tokens.create(name: "a", grants: grants).token
            var request = HTTPClientRequest(url: "\(server.url)/v1/changes")
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
            request.body = .bytes(ByteBuffer(string: body))
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            return (response.status.code, String(buffer: try await response.body.collect(upTo: 1 << 20)))
        }
        let both = """
            {"collections":[{"collection":"a","since":"\(cursors[0])"},\
            {"collection":"b","since":"\(cursors[1])","items":true}]}
            """
        let answer = try await send([AccessGrant()], both)
        #expect(answer.status == 200)
        let lines = try answer.body.split(separator: "\n").map { line in
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        }
        let kinds = lines.map { line in ["part", "change", "key", "end"].filter { line[$0] != nil } }
        #expect(kinds == [["part"], ["change"], ["key"], ["part"], ["end"]])
        #expect(lines.map { $0["cursor"] as? String }.first == cursors[0])
        #expect(try await send([AccessGrant(rights: [.read, .write])], both).status == 403)
        #expect(try await send([AccessGrant(collection: "a")], both).status == 404)
        #expect(try await send([AccessGrant()], #"{"collections":[]}"#).status == 200)
        for wrong in ["{}", #"{"collections":[{"collection":"a"}]}"#, #"{"collections":{}}"#, "["] {
            #expect(try await send([AccessGrant()], wrong).status == 400, "\(wrong)")
        }
    }

    private func follow(
        _ engines: [any StorageBackend], _ remote: RemoteDatabase, _ model: inout Model
    ) async throws {
        let requests = zip(engines, model.cursors).map { ($0, ChangesRequest(since: $1, needsItems: true)) }
        let answers = try await remote.fetchChanges(requests)
        try #require(answers.count == 2)
        for (index, answer) in answers.enumerated() {
            let delta = try #require(answer.value)
            #expect(delta.isComplete)
            for change in delta.changes { model.items[index][change.key] = nil }
            for item in delta.items { model.items[index][item.key] = number(item.data) }
            model.cursors[index] = delta.cursor
        }
    }

    /// Moves an amount from one item to another in one transaction.
    private func move(
        _ amount: Int, from: (engine: any StorageEngine, key: CacheKey), to: (engine: any StorageEngine, key: CacheKey)
    ) async throws {
        while true {
            let old = try await (from.engine.fetch(key: from.key), to.engine.fetch(key: to.key))
            func batch(_ key: CacheKey, _ old: Data?, _ new: Int) -> StorageBatch {
                StorageBatch(
                    [.write(key: key, data: Data("\(new)".utf8))], if: [StorageCondition(key: key, data: old)])
            }
            let answers = try await StorageBatchGroup.apply([
                (from.engine.backend, batch(from.key, old.0, number(old.0) - amount)),
                (to.engine.backend, batch(to.key, old.1, number(old.1) + amount)),
            ])
            if answers.allSatisfy(\.value.wasApplied) { return }
        }
    }
}

/// The number of writers that have ended, and of the reader's looks.
private final class Running: @unchecked Sendable {
    // @unchecked because the lock guards the numbers.
    private let lock = NSLock()
    private var numbers = (ended: 0, looks: 0)

    var hasEnded: Bool { lock.withLock { numbers.ended == 4 } }

    var looks: Int { lock.withLock { numbers.looks } }

    func end() { lock.withLock { numbers.ended += 1 } }

    func look() { lock.withLock { numbers.looks += 1 } }
}

/// Numbers that follow from a seed: SplitMix64, Steele, Lea and Flood, 2014.
private struct Random {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next(below limit: UInt64) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((value ^ (value >> 31)) % limit)
    }
}
