#if Server
import Bodega
import BodegaMessages
import Foundation
import HTTPTypes
public import Hummingbird
import Logging
import NIOCore
import RecordCoder

/// The routes of a ``StorageServer``, for an application that has others as well.
///
/// ```swift
/// let router = Router()
/// StorageRoutes(access: tokens, collections: ["notes": notes]).add(to: router.group("data"))
/// ```
///
/// | Request | Does |
/// |---|---|
/// | `GET`, `HEAD`, `PUT`, `DELETE` of `v1/collections/NAME/items/KEY` | one item, with its `ETag` |
/// | `POST v1/collections/NAME/fetch` | items under some keys |
/// | `POST v1/collections/NAME/scan` | items in an order, and numbers of items |
/// | `POST v1/collections/NAME/query` | items that meet a filter of RFC 9535, a page at a time, and their number |
/// | `POST v1/collections/NAME/changes` | what has changed since a cursor |
/// | `GET v1/collections/NAME/events` | what changes from now on, or from a cursor on, as server-sent events |
/// | `GET v1/collections/NAME` | what the collection can do |
/// | `GET`, `POST v1/collections/NAME/indexes`, … | indexes and references |
/// | `GET v1/health`, `GET v1/ready` | whether the server listens, and whether it reaches its database |
/// | `GET v1/openapi.json` | the protocol as a document of OpenAPI 3.1 |
/// | `POST v1/batch` | changes of several items and collections, all or none |
/// | `POST v1/changes` | what has changed in several collections, from one moment |
public struct StorageRoutes: Sendable {
    let access: any StorageAccess
    let limits: StorageServerLimits
    let scopes: ScopedCollections
    let receipts: Receipts?
    let streams: OpenStreams
    let answerFiles: SharedSpace
    /// The memory for the bodies of requests.
    private let bodies: SharedSpace
    /// The turns of the clients in reads of many items.
    let turns: ClientTurns
    let metrics: StorageServerMetrics?
    private let rate: RateLimit
    private let readiness: Readiness
    let eventStreams: EventStreams

    /// Creates routes.
    ///
    /// - Parameters:
    ///   - access: Decides which client a request is from.
    ///   - collections: The engines by the names of the collections in addresses.
    ///   - limits: The limits of what a client can ask for.
    public init(
        access: some StorageAccess, collections: StorageCollections,
        limits: StorageServerLimits = StorageServerLimits()
    ) {
        self.init(access: access, collections: collections, limits: limits, metrics: nil)
    }

    init(
        access: some StorageAccess, collections: StorageCollections, limits: StorageServerLimits,
        metrics: StorageServerMetrics?
    ) {
        (self.access, self.limits, self.metrics) = (access, limits, metrics)
        scopes = ScopedCollections(collections)
        receipts = collections.receipts.map { Receipts(storage: $0.backend, lifetime: limits.receiptSeconds) }
        streams = OpenStreams(limits)
        answerFiles = SharedSpace(perClient: limits.answerFileBytes, total: limits.totalAnswerFileBytes)
        bodies = SharedSpace(
            perClient: max(limits.bodyBytes, limits.requestBytes),
            total: max(limits.totalBodyBytes, limits.requestBytes))
        turns = ClientTurns(limit: limits.concurrentReads)
        rate = RateLimit(limits)
        readiness = Readiness(within: .seconds(2)) { try await collections.check() }
        eventStreams = EventStreams(access: access)
    }

    /// The routes of a collection.
    private static let collectionRoutes:
        [(
            path: RouterPath, method: HTTPRequest.Method,
            body: @Sendable (StorageRoutes) -> @Sendable (ClientRequest, ClientCollection) async throws -> Response
        )] = [
            ("", .get, describe),
            ("items/:key", .get, item),
            ("items/:key", .head, item),
            ("items/:key", .put, write),
            ("items/:key", .delete, remove),
            ("fetch", .post, fetch),
            ("scan", .post, scan),
            ("query", .post, query),
            ("cursor", .get, cursor),
            ("changes", .post, changes),
            ("events", .get, events),
            ("indexes", .get, indexes),
            ("indexes", .post, createIndex),
            ("indexes/remove", .post, removeIndex),
            ("references", .get, references),
            ("references", .put, declareReferences),
        ]

    /// Adds the routes to a router or a group.
    public func add(to router: some RouterMethods<some RequestContext>) {
        let version = router.group("v1")
        for method in [HTTPRequest.Method.get, .head] {
            version.on("health", method: method) { _, _ in Response(status: .noContent) }
            version.on("ready", method: method) { [readiness] request, _ in
                if await readiness.isReady() { return Response(status: .noContent) }
                return StorageError(.unreachable, "The database can't be read.").response().answering(request)
            }
        }
        version.get("openapi.json") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: openAPI)))
        }
        on(version, "batch", .post) { try await batch($0, of: $1) }
        refuseOthers(than: [.get, .head], version, "health")
        refuseOthers(than: [.get, .head], version, "ready")
        refuseOthers(than: [.get], version, "openapi.json")
        on(version, "changes", .post) { try await changes($0, of: $1) }
        refuseOthers(than: [.post], version, "batch")
        refuseOthers(than: [.post], version, "changes")
        let group = version.group("collections/:collection")
        for route in Self.collectionRoutes { onCollection(group, route.path, route.method, route.body(self)) }
        for routes in Dictionary(grouping: Self.collectionRoutes, by: \.path.description).values {
            refuseOthers(than: routes.map(\.method), group, routes[0].path)
        }
    }

    /// Answers requests with other methods; see RFC 9110, section 15.5.6.
    private func refuseOthers(
        than allowed: [HTTPRequest.Method], _ router: some RouterMethods<some RequestContext>, _ path: RouterPath
    ) {
        let methods = ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY"]
            .compactMap { HTTPRequest.Method($0) }
        for method in methods where !allowed.contains(method) {
            router.on(path, method: method) { request, _ in
                RequestRefusal.wrongMethod(allowed).response().answering(request)
            }
        }
    }

    private func describe(_ request: ClientRequest, _ collection: ClientCollection) -> Response {
        .json(
            CollectionDescription(
                collection.engine, hasDatabase: collection.engine.groupDatabase != nil,
                keepsReceipts: receipts?.covers(collection.engine) ?? false))
    }

    /// A request, with the client that it is from.
    struct ClientRequest {
        let request: Request
        let client: StorageClient
        /// The parameters of the path, decoded.
        let parameters: [String: String]
        /// Replaces the origins of the client's changes.
        let mask: OriginMask
        /// The memory for the body.
        let space: RequestSpace
    }

    /// A collection as a client sees it.
    struct ClientCollection {
        let name: String
        let engine: ScopedStorageEngine
    }

    /// Adds a route for valid clients, which answers errors as problems.
    private func on<Context: RequestContext>(
        _ router: some RouterMethods<Context>, _ path: RouterPath, _ method: HTTPRequest.Method,
        _ body: @escaping @Sendable (ClientRequest, StorageClient) async throws -> Response
    ) {
        router.on(path, method: method) { request, context in
            do {
                try checkPath(request)
                try checkSender(request)
                guard let client = try await access.client(bearing: request.bearer), client.isValid else {
                    throw RequestRefusal.unauthorized
                }
                try rate.count(client)
                var parameters: [String: String] = [:]
                for name in ["collection", "key"] {
                    guard let raw = context.parameters.get(name) else { continue }
                    guard let value = raw.percentDecoded else {
                        throw StorageError(.invalidArgument, "The address is not percent-encoded UTF-8.")
                    }
                    parameters[name] = value
                }
                let mask = OriginMask(client: access is OpenAccess ? nil : client.id)
                return try await body(
                    ClientRequest(
                        request: request, client: client, parameters: parameters, mask: mask,
                        space: RequestSpace(bodies, client)), client)
            } catch let refusal as RequestRefusal {
                if let limit = refusal.limit { metrics?.refused(limit) }
                return refusal.response().answering(request)
            } catch let error as StorageError {
                // The collection may exist again, or else the next request finds that there is none.
                if error.code == .placeRemoved { scopes.forgetAll() }
                if error.status.code >= 500 {
                    let advice =
                        error.code == .placeRemoved
                        ? " The database was removed or replaced. If this goes on, start the server again." : ""
                    context.logger.warning("A request failed.\(advice)", metadata: ["code": "\(error.code)"])
                }
                return error.response().answering(request)
            }
        }
    }

    /// Refuses an address with an empty part: the router leaves it out, and would find another item.
    private func checkPath(_ request: Request) throws {
        let path = request.uri.path
        if path.contains("//") || path.hasSuffix("/") { throw RequestRefusal.notFound }
    }

    /// Refuses what a page in a browser on this machine could send without the knowledge of its user.
    ///
    /// A page can make its own name resolve to 127.0.0.1, and would then read answers as its own; but the browser still
    /// sends that name. It can send a form anywhere, but no JSON.
    private func checkSender(_ request: Request) throws {
        // Servers and proxies would take different ones of several: RFC 9112, section 3.2. The first is the authority.
        guard request.head.authority != nil, request.headers[.host] == nil else {
            throw RequestRefusal.notOneHost
        }
        if access is OpenAccess, !isThisMachine(request.head.authority) { throw RequestRefusal.misdirected }
        guard request.method == .post else { return }
        let type = request.headers[.contentType]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces)
        guard type?.lowercased() == "application/json" else { throw RequestRefusal.notJSON }
    }

    private func onCollection(
        _ router: some RouterMethods<some RequestContext>, _ path: RouterPath, _ method: HTTPRequest.Method,
        _ body: @escaping @Sendable (ClientRequest, ClientCollection) async throws -> Response
    ) {
        on(router, path, method) { request, client in
            try await body(request, try await collection(request.parameters["collection"] ?? "", of: client))
        }
    }

    /// A collection as a client sees it.
    ///
    /// - Throws: ``RequestRefusal/notFound`` if there is none for it.
    func collection(_ name: String, of client: StorageClient) async throws -> ClientCollection {
        guard let engine = try await scopes.engine(name, client) else { throw RequestRefusal.notFound }
        return ClientCollection(name: name, engine: engine)
    }
}

extension StorageClient {
    var isValid: Bool { expiresAt.map { $0 > Date() } ?? true }
}

extension Request {
    /// The bearer token, see RFC 6750, section 2.1.
    var bearer: String? {
        guard let value = headers[.authorization] else { return nil }
        let parts = value.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, Substring(parts[0]).lowercased() == "bearer" else { return nil }
        return String(Substring(parts[1].drop { $0 == UInt8(ascii: " ") }))
    }
}

extension String {
    /// The text without percent-encoding; `nil` if it is not valid UTF-8. Foundation's own form drops some characters.
    fileprivate var percentDecoded: String? {
        var result: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            // A sign is no digit, but would be read as a part of the number.
            guard digits.count == 2, let value = UInt8(Substring(digits), radix: 16), digits.first != UInt8(ascii: "+")
            else { return nil }
            rest = rest.dropFirst(2)
            result.append(value)
        }
        return String(validating: result, as: UTF8.self)
    }
}

extension Response {
    /// The response without a body if the request is one for the head only; see RFC 9110, section 9.3.2. A client would
    /// take a body for the next response.
    func answering(_ request: Request) -> Response {
        guard request.method == .head else { return self }
        var response = self
        response.body = ResponseBody()
        response.headers[.contentLength] = headers[.contentLength]
        return response
    }

    static func json(_ value: some JSONMember) -> Response {
        var bytes: [UInt8] = []
        value.encode(into: &bytes)
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .inParts(ByteBuffer(bytes: bytes)))
    }
}

/// The engines through which clients see collections. Those of one client are shared by its requests, because the
/// cursors of a scope belong to one engine. When its rights have changed, it gets another one.
final class ScopedCollections: Sendable {
    private struct Place: Hashable {
        let client: ExactText
        let collection: ExactText
        let scope: StorageScope.Identity?
    }

    private static let maximum = 10_000

    private let collections: StorageCollections
    private let engines = Locked<[Place: ScopedStorageEngine]>([:])
    private let logs = Locked<[ExactText: ScopedLogs]>([:])

    init(_ collections: StorageCollections) { self.collections = collections }

    func engine(_ name: String, _ client: StorageClient) async throws -> ScopedStorageEngine? {
        guard let scope = client.scope(of: name) else { return nil }
        let place = Place(client: ExactText(client.id), collection: ExactText(name), scope: scope.identity)
        if let engine = engines.withLock({ $0[place] }) { return engine }
        guard let logs = try await logs(of: name) else { return nil }
        return engines.withLock { engines in
            // Another request of the client can have been faster.
            if let engine = engines[place] { return engine }
            // Their readers begin with snapshots then.
            if engines.count >= Self.maximum { engines = [:] }
            let engine = logs.engine(for: scope)
            engines[place] = engine
            return engine
        }
    }

    /// Opens collections again for the next requests, because another program has removed one.
    func forgetAll() {
        engines.withLock { $0 = [:] }
        logs.withLock { $0 = [:] }
    }

    /// What all clients of a collection share, so that its log is read once for them.
    private func logs(of name: String) async throws -> ScopedLogs? {
        let name = ExactText(name)
        if let logs = logs.withLock({ $0[name] }) { return logs }
        guard let base = try await collections.open(name.text)?.backend else { return nil }
        return logs.withLock { logs in
            if let logs = logs[name] { return logs }
            if logs.count >= Self.maximum { logs = [:] }
            let shared = ScopedLogs(base: base)
            logs[name] = shared
            return shared
        }
    }
}

extension RequestRefusal {
    /// The limit that has refused the request.
    fileprivate var limit: StorageServerMetrics.Limit? {
        switch self {
        case .tooManyStreams, .isBusy: .streams
        case .tooManyRequests: .rate
        case .noMemory: .bodies
        default: nil
        }
    }
}
#endif
