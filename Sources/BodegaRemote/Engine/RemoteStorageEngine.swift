public import Bodega
public import BodegaHTTP
import BodegaMessages
public import Foundation
import RecordCoder

/// An engine whose items a server keeps, such as one of the module `BodegaServer`.
///
/// ```swift
/// let url = URL(string: "https://data.example.com")!
/// let engine = try await RemoteStorageEngine(connecting: url, collection: "notes") { token }
/// let store = try await Store<Note>(storage: engine)
/// ```
///
/// It is an engine like any other: stores, queries, indexes, live windows, change feeds and, if the server allows it,
/// transactions over several collections work over the network.
///
/// - A write that has returned is as durable as on the server. If a write throws
///   ``/Bodega/StorageError/Code/unreachable`` or ``/Bodega/StorageError/Code/timedOut``, the server may have applied
///   it, or may do so later.
/// - Requests are sent again after temporary errors where that does no harm, see ``RemoteStorageOptions/retryPolicy``.
///   A server that keeps receipts recognizes a batch that it has applied, so it applies none twice. A batch with an
///   ``/Bodega/StorageBatch/identifier`` is recognized also if the caller sends it again, and can be fenced: see
///   ``RemoteDatabase/fence(_:)``.
/// - What the client may not see does not exist for it.
/// - Dates are those of the server, in milliseconds.
/// - A scan answers from one moment. Its items are passed on while they arrive.
/// - ``/Bodega/StorageLog/changeSignals(excluding:)`` keeps one stream of the server open, and opens it again when the
///   connection is lost.
public final class RemoteStorageEngine: StorageBackend {
    /// The server.
    public let server: RemoteDatabase
    /// The name of the collection.
    public let collectionName: String

    let description: CollectionDescription
    let requests: RemoteRequests
    private let events: RemoteEvents

    /// Opens a collection of a server.
    ///
    /// - Parameters:
    ///   - url: The address of the server.
    ///   - collection: The name of the collection.
    ///   - options: The limits.
    ///   - transport: The client that sends the requests.
    ///   - token: Returns the token of the client; `nil` for none. It is called for each request, concurrently.
    /// - Throws: A `StorageError`: ``/Bodega/StorageError/Code/cannotOpen`` if there is no such collection for the
    ///   client, `unauthorized` if its token is not valid,
    ///   ``/Bodega/StorageError/Code/unreachable`` if the server can't be reached.
    public convenience init(
        connecting url: URL, collection: String, options: RemoteStorageOptions = RemoteStorageOptions(),
        transport: any HTTPStorageTransport = URLSessionTransport.shared,
        token: @escaping @Sendable () async throws -> String? = { nil }
    ) async throws {
        let server = try RemoteDatabase(url, options: options, transport: transport, token: token)
        let part = try await server.requests.json(.get, RemoteRequests.path(collection))
        self.init(server, collection, try server.requests.read { try CollectionDescription(part) })
    }

    init(_ server: RemoteDatabase, _ collection: String, _ description: CollectionDescription) {
        (self.server, collectionName, self.description) = (server, collection, description)
        requests = server.requests
        events = RemoteEvents(server.requests, RemoteRequests.path(collection, "events"))
    }

    /// Those of the collection on the server, and ``/Bodega/StorageTraits/receipts`` if the server keeps them.
    public var traits: StorageTraits {
        description.keepsReceipts ? description.traits.union(.receipts) : description.traits
    }

    /// The server, with which the engine's collection can change in one transaction with others; `nil` if the client
    /// may not.
    public var database: (any StorageDatabase)? { description.hasDatabase ? server : nil }

    public var log: (any StorageLog)? { description.hasLog ? RemoteLog(engine: self, events: events) : nil }

    public var indexes: (any StorageIndexes)? { description.hasIndexes ? RemoteIndexes(engine: self) : nil }

    public var references: (any StorageReferences)? { description.hasReferences ? RemoteReferences(engine: self) : nil }

    func path(_ name: String) -> String { RemoteRequests.path(collectionName, name) }
}

// Reading.
extension RemoteStorageEngine {

    public func fetch(key: CacheKey) async throws -> Data? {
        guard let path = RemoteRequests.path(collectionName, key) else {
            return try await fetch(FetchRequest([key])).value.first?.data
        }
        let response = try await requests.send(.get, path, key: key)
        return try requests.hasItem(response) ? response.body : nil
    }

    public func fetchStream(key: CacheKey) async throws -> StorageByteStream? {
        guard let path = RemoteRequests.path(collectionName, key) else {
            return try await fetch(key: key).map { StorageByteStream($0) }
        }
        let stream = try await requests.attempt(path) { try await requests.open(.get, path, key: key) }
        return try requests.hasItem(stream.head) ? StorageByteStream(stream) : nil
    }

    public func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        if request.keys.isEmpty { return StorageAnswer([]) }
        let keys = request.keys
        var request = request
        request.keys = keys.withoutRepetitions
        var answer = StorageAnswer<[StorageItem]>([])
        try await requests.lines(path("fetch"), request) {
            answer = StorageAnswer([])
            return { [requests] line in
                switch line {
                case .item(let item, _): answer.value.append(item)
                case .sign(let members): answer.report = try requests.read { try StorageReport(members) }
                case .other: throw RemoteRequests.isNoItem
                }
                return true
            }
        }
        if request.keys.count < keys.count {
            // The server answers each key once.
            let items = Dictionary(answer.value.map { ($0.key, $0) }) { first, _ in first }
            answer.value = keys.compactMap { items[$0] }
        }
        return answer
    }

    public func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        // A short scan ends after few items, and the server need not send more than some.
        if request.isShort, let answer = try await scan(request, limit: Self.shortScan, begin) { return answer }
        guard let answer = try await scan(request, limit: nil, begin) else {
            throw StorageError(.unreachable, "The server has sent a part of the items only.")
        }
        return answer
    }

    /// The number of items that the server sends for a scan that probably ends after few.
    private static let shortScan = 100

    /// - Returns: `nil` if the receiver wants more items than the limit.
    private func scan(
        _ request: ScanRequest, limit: Int?, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome>? {
        var receive: StorageReceiver = { _, _ in true }
        // The scans of which the receiver wants no more.
        var ended: Set<Int> = []
        var answer = StorageAnswer(ScanOutcome())
        var isPart = false
        var bytes = 0
        let needsEnd = !request.counted.isEmpty || request.needsCursor || request.ranking != nil
        let path = path("scan") + (limit.map { "?limit=\($0)" } ?? "")
        try await requests.lines(path, request) {
            (receive, ended, bytes) = (try begin(), [], 0)
            return { [requests] line in
                switch line {
                case .item(let item, let scan):
                    if ended.contains(scan) { return true }
                    bytes += item.data.count
                    if try receive(scan, item) { return true }
                    ended.insert(scan)
                    return needsEnd || limit != nil || ended.count < request.scans.count
                case .sign(let members):
                    if try members.bool("restart") {
                        (receive, ended, bytes) = (try begin(), [], 0)
                    } else {
                        try requests.read {
                            answer = StorageAnswer(try ScanOutcome(members), try StorageReport(members))
                            isPart = try members.bool("partial")
                        }
                    }
                    return true
                case .other: throw RemoteRequests.isNoItem
                }
            }
        }
        if isPart, ended.count < request.scans.count { return nil }
        answer.value.byteCount = bytes
        return answer
    }
}

// Writing.
extension RemoteStorageEngine {
    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        var batch = batch
        batch.origin = batch.origin ?? StorageOrigin.current
        if let group = batch.group { return try await group.join(self, collection: collectionName, batch) }
        return try await server.apply([(collectionName, batch)], keepsReceipts: description.keepsReceipts)[0]
    }
}

extension RemoteStorageEngine: SampledStorageEngine {
    /// The first keys.
    package func fetchSomeKeys(_ count: Int) async throws -> [CacheKey] {
        let keys = Locked<[CacheKey]>([])
        _ = try await scan(ScanRequest(fields: []), limit: count) {
            keys.withLock { $0 = [] }
            return { _, item in
                keys.withLock { $0.append(item.key) }
                return true
            }
        }
        return keys.withLock { $0 }
    }
}

/// The indexes of a collection on a server.
private struct RemoteIndexes: StorageIndexes {
    let engine: RemoteStorageEngine

    func fetchIndexes() async throws -> Set<StorageIndex> {
        let part = try await engine.requests.json(.get, engine.path("indexes"))
        return try engine.requests.read {
            let indexes: [StorageIndex] = try part.members().required("indexes").list()
            return Set(indexes)
        }
    }

    func createIndex(_ index: StorageIndex) async throws {
        try await engine.requests.send(
            .post, engine.path("indexes"), index, timeLimit: engine.requests.options.indexTimeLimit)
    }

    func removeIndex(_ index: StorageIndex) async throws {
        try await engine.requests.send(.post, engine.path("indexes/remove"), index)
    }
}

/// The references of a collection on a server.
private struct RemoteReferences: StorageReferences {
    let engine: RemoteStorageEngine

    func fetchReferences() async throws -> [StorageReference] {
        let part = try await engine.requests.json(.get, engine.path("references"))
        return try engine.requests.read { try part.members().required("references").list() }
    }

    func declareReferences(_ references: [StorageReference]) async throws {
        try await engine.requests.send(.put, engine.path("references"), references)
    }
}
