import AsyncHTTPClient
import Bodega
import BodegaRemote
import BodegaServer
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// Changes with so many items that the server reads them in parts.
@Suite("Changes with many items")
struct ChangesInPartsTests {
    private let folder = URL.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    /// An engine that notes the most bytes of items that one call has returned.
    private struct Measured: ForwardingStorageEngine {
        let base: any StorageBackend
        let most: Most

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: @concurrent () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> {
            let answer = try await body()
            let items = answer.value as? [StorageItem] ?? (answer.value as? StorageDelta)?.items ?? []
            most.note(items.reduce(0) { $0 + $1.data.count })
            return answer
        }
    }

    private func database(_ kind: String) throws -> @Sendable (String) throws -> any StorageEngine {
        if kind == "memory" {
            let database = MemoryStorageEngine()
            return { database.collection(named: $0) }
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let database = try SQLiteStorageEngine(
            openingFile: folder.appendingPathComponent("items.db"), durability: .relaxed)
        return { try database.collection(named: $0) }
    }

    @Test("are read a few at a time, of one collection or several", arguments: ["sqlite", "memory"], [1, 2])
    func parts(of kind: String, collections: Int) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (open, most) = (try database(kind), Most())
        let names = (0..<collections).map { "c\($0)" }
        var measured: [String: any StorageEngine] = [:]
        for name in names { measured[name] = Measured(base: try open(name).backend, most: most) }
        let server = try await TestServer(StorageCollections(measured))
        let remote = try RemoteDatabase(server.url)
        let own = StorageOrigin()
        var (requests, expected): ([(engine: any StorageBackend, request: ChangesRequest)], [[CacheKey: Data]]) = (
            [], []
        )
        for name in names {
            let engine = try await remote.collection(named: name)
            requests.append(
                (engine, ChangesRequest(since: try await engine.fetchCursor(), excluding: own, needsItems: true)))
            let items = (0..<960).map { (CacheKey("\(name) \($0)"), Data(repeating: UInt8($0 % 251), count: 20_000)) }
            try await engine.write(items)
            try await engine.write(items.suffix(10).map { ($0.0, Data(repeating: 255, count: 20_000)) })
            try await engine.remove(key: CacheKey("\(name) 7"))
            _ = try await engine.apply(StorageBatch([.write(key: CacheKey("own"), data: Data())], origin: own))
            expected.append(
                Dictionary(uniqueKeysWithValues: try await engine.fetchAll().filter { $0.key != CacheKey("own") }))
        }
        most.reset()
        let answers =
            collections == 1
            ? try await [requests[0].engine.log?.fetchChanges(requests[0].request).value]
            : try await remote.fetchChanges(requests).map(\.value)
        for (answer, items) in zip(answers, expected) {
            let delta = try #require(answer)
            #expect(delta.isComplete && delta.changes.count == 972)
            #expect(Dictionary(delta.items.map { ($0.key, $0.data) }, uniquingKeysWith: { _, last in last }) == items)
            #expect(delta.items.count == items.count)
        }
        #expect(answers.count == collections)
        // About a mebibyte of the 19 million bytes.
        #expect((500_000...1 << 20).contains(most.bytes))
    }

    @Test(
        "like items that are asked for by their keys, are read a few at a time, and a key that is repeated only once",
        arguments: ["sqlite", "memory"], [nil, "@ != 1"])
    func fetch(of kind: String, filter: String?) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (engine, most) = (try database(kind)("notes"), Most())
        let text = String(repeating: "x", count: 50_000)
        let items = (0..<200).map { (CacheKey("\($0)"), Data("\"\(text)\($0)\"".utf8)) }
        try await engine.write(items)
        let scope = try filter.map { try StorageScope(matching: $0, rights: .all) } ?? StorageScope(rights: .all)
        let server = try await TestServer(
            access: OneScope(scope: scope), ["notes": Measured(base: engine.backend, most: most)])
        let remote = try await RemoteStorageEngine(connecting: server.url, collection: "notes")
        let keys = items.map(\.0) + [CacheKey("missing")] + items.map(\.0).reversed()
        most.reset()
        let found = try await remote.fetch(FetchRequest(keys)).value
        #expect(found.map(\.key) == keys.filter { $0 != CacheKey("missing") })
        #expect(found.map(\.data) == items.map(\.1) + items.map(\.1).reversed())
        // About a mebibyte of the ten million bytes.
        #expect((500_000...1 << 20).contains(most.bytes))

        var request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/fetch")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        let repeated = Array(repeating: #"{"key":"7"}"#, count: 100_000).joined(separator: ",")
        request.body = .bytes(ByteBuffer(string: #"{"keys":[\#(repeated)]}"#))
        most.reset()
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(60)).body.collect(upTo: 100_000)
        #expect(String(buffer: answer).split(separator: "\n").count == 2)
        #expect(most.bytes == items[7].1.count)
    }

    @Test("like the large items of a query, are read a few at a time", arguments: ["sqlite", "memory"], [false, true])
    func query(of kind: String, isOrdered: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (engine, most) = (try database(kind)("notes"), Most())
        let text = String(repeating: "x", count: 30_000)
        let items = (0..<120).map { (CacheKey("\($0)"), Data(#"{"n":\#($0 * 7 % 120),"text":"\#(text)"}"#.utf8)) }
        try await engine.write(items)
        var limits = StorageServerLimits()
        limits.querySeconds = 60
        let server = try await TestServer(
            limits: limits, ["notes": Measured(base: engine.backend, most: most)])
        var (lines, next): ([Line], String?) = ([], nil)
        repeat {
            var request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/query")
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            let order = isOrdered ? #","order":[{"path":"n"}]"# : ""
            let after = next.map { #","after":"\#($0)""# } ?? ""
            request.body = .bytes(ByteBuffer(string: #"{"filter":"@.n >= 20","limit":45\#(order)\#(after)}"#))
            let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(60)).body.collect(upTo: 1 << 24)
            let texts = String(buffer: answer).split(separator: "\n")
            let page = try texts.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            #expect(page.last?.end == true, "\(texts.last ?? "")")
            lines += page.dropLast()
            next = page.last?.next
        } while next != nil
        let numbers = isOrdered ? Array(20..<120) : (0..<120).map { $0 * 7 % 120 }.filter { $0 >= 20 }
        #expect(lines.map(\.value?.n) == numbers)
        #expect(lines.allSatisfy { $0.value?.text == text && $0.position != nil && $0.key != nil })
        #expect(most.bytes <= 1 << 20)
    }

    /// A line of the answer to a query.
    private struct Line: Decodable {
        struct Value: Decodable {
            let n: Int
            let text: String
        }
        let key: String?
        let position: Int?
        let value: Value?
        let next: String?
        let end: Bool?
    }

    /// All clients have the same rights.
    private struct OneScope: StorageAccess {
        let scope: StorageScope

        func client(bearing token: String?) async throws -> StorageClient? {
            StorageClient(id: "client", otherScope: scope)
        }
    }

    @Test("are those of one moment, also while others change them", arguments: ["sqlite", "memory"])
    func moment(of kind: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let open = try database(kind)
        let server = try await TestServer(["left": try open("left"), "right": try open("right")])
        let remote = try RemoteDatabase(server.url)
        let (left, right) = (try await remote.collection(named: "left"), try await remote.collection(named: "right"))
        var cursors = (try await left.fetchCursor(), try await right.fetchCursor())
        let count = 200
        @Sendable func write(_ round: Int) async throws {
            let operations = { (sign: Int) in
                (0..<count).map { StorageOperation.write(key: CacheKey("\($0)"), data: Data("\(sign * round)".utf8)) }
            }
            _ = try await StorageBatchGroup.apply([
                (engine: try open("left").backend, batch: StorageBatch(operations(1))),
                (engine: try open("right").backend, batch: StorageBatch(operations(-1))),
            ])
        }
        try await write(1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for round in 2...60 { try await write(round) } }
            for _ in 0..<8 {
                let answers = try await remote.fetchChanges([
                    (left, ChangesRequest(since: cursors.0, needsItems: true)),
                    (right, ChangesRequest(since: cursors.1, needsItems: true)),
                ])
                let deltas = try answers.map { try #require($0.value) }
                cursors = (deltas[0].cursor, deltas[1].cursor)
                let numbers = deltas.map { Set($0.items.map { Int(String(decoding: $0.data, as: UTF8.self)) ?? 0 }) }
                #expect(deltas.allSatisfy { $0.isComplete && [0, count].contains($0.items.count) })
                #expect(numbers.allSatisfy { $0.count <= 1 } && numbers[0] == Set(numbers[1].map { -$0 }))
            }
            try await group.waitForAll()
        }
    }
}

/// The most bytes that were noted.
private final class Most: @unchecked Sendable {
    // @unchecked because the lock guards the number.
    private let lock = NSLock()
    private var number = 0

    var bytes: Int { lock.withLock { number } }

    func note(_ bytes: Int) { lock.withLock { number = max(number, bytes) } }

    func reset() { lock.withLock { number = 0 } }
}
