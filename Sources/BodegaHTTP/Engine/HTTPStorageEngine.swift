public import Bodega
public import Foundation

/// An engine whose items are the objects of a JSON API.
///
/// ```swift
/// let notes = try HTTPStorageEngine(url) { ["Authorization": "Bearer \(try await token())"] }
/// ```
///
/// | call | requests |
/// |---|---|
/// | `fetchAll()`, `fetchKeys()` | `GET notes`, and further pages as long as the header `Link` names one as `next` |
/// | ``fetch(key:)`` | `GET notes/{id}` |
/// | `write(_:key:)` | `PUT notes/{id}` |
/// | `remove(key:)` | `DELETE notes/{id}` |
/// | `apply(_:)`, `removeAllData()` | one request for each item, one after another |
///
/// - **Items**: The bytes of an item are those of the JSON object, as the server has sent them. An item that is written
///   must be a JSON object with the same identifier as its key. The server may store something else than what it
///   receives, for example with a date of its own; the next read returns that.
/// - **Keys**: The key of an item is `CacheKey(id)`, as in a `Store`. There are no items under the empty key and under
///   keys of other kinds. Identifiers are percent-encoded in addresses. Those with slashes or control characters, and
///   the identifiers `.` and `..`, are not sent, because some servers would take them for the path of another resource:
///   such an item is read with the whole collection, and writing or removing it throws `invalidArgument`.
/// - **Order** is that of the server. Several pages are not a snapshot: an item that others add or remove while they
///   are read can move another one across the border of two pages, which then is missing. An item on two pages is
///   returned once.
/// - **Pages** are complete, or reading throws: a header `Link` that can't be read, or that names two next pages, is an
///   error. Several headers of one name are combined, also if their names differ in case.
/// - **Dates**: Both dates are those of the header `Last-Modified`. If a server does not send it, reading dates throws.
/// - **Batches** are not atomic. Items that can't be sent are refused before the first request. If a request fails, the
///   operations before it remain applied, and the message contains their number.
/// - **Conditions**: With ``HTTPStorageOptions/usesEntityTags``, a batch of one operation and one condition on the same
///   item, such as one of `apply(_:if:)`, is sent with `If-Match` or `If-None-Match`. The engine reads the item first,
///   compares its bytes with the condition, and sends the entity tag of that response. If the response to the change is
///   lost, the next read decides: if it returns the written bytes, the change was applied, and if the item is as
///   before, it is sent again. It throws if it is something else, because the change may have come before another one.
///   The engine does not have the trait `conditional`, because a batch can't have conditions on other items.
/// - **Unknown outcomes**: If a write throws `timedOut` or `unreachable`, or is cancelled, the server may have applied
///   it, or may do so later. Repeating it is safe unless others write the same item: `PUT` and `DELETE` are idempotent.
///   So `retrying()` is suitable. The default transport itself repeats a request once if the server was closing the
///   reused connection.
///
/// ## Errors
/// | response | code of the `StorageError` |
/// |---|---|
/// | 404, 410 for an item | none: the item is absent |
/// | 404, 410 for the collection, redirects | `cannotOpen` |
/// | 304, or a success other than 200 and 203 for a read | `decodingFailed` |
/// | 401 | `unauthorized` |
/// | 403 | `permissionDenied` |
/// | 400, 405, 409, 412, 422, and others below 500 | `refused`, but for 412 under a condition: not applied |
/// | 413, 414, 431, or a response beyond the limit | `tooLarge` |
/// | 425, 429, 500 and above | `unreachable`, which `retrying()` retries |
/// | 507 | `storageFull` |
/// | 408, or none within the time limit | `timedOut` |
/// | no connection, or a lost one | `unreachable` |
/// | no JSON, or not in the expected form | `decodingFailed` |
/// | a page of HTML for a change | `unreachable`: a network that asks for a login may have answered |
///
/// The cause of an error from a status is an ``HTTPStatusError``. Errors contain neither headers nor the query of an
/// address.
public struct HTTPStorageEngine: StorageBackend {

    /// The form of the API, and the limits.
    public let options: HTTPStorageOptions

    let collection: HTTPCollection
    let objects: JSONObjects
    private let transport: any HTTPStorageTransport
    private let headers: @Sendable () async throws -> [String: String]

    /// Creates an engine on a collection of an API. No request is sent.
    ///
    /// - Parameters:
    ///   - collection: The address of the collection, such as `https://api.example.com/notes`. A query is part of each
    ///     request. Use `https`, so that others on the network can't read the headers.
    ///   - options: The form of the API, and the limits.
    ///   - transport: The client that sends the requests.
    ///   - headers: Returns the headers of a request, for example with a token. It is called for each request,
    ///     concurrently, and can refresh the token. Its time is not limited, and what it throws is thrown by the call
    ///     of the engine.
    /// - Throws: A `StorageError` with the code `invalidArgument` if the address is not one of HTTP, or contains a
    ///   password or a fragment.
    public init(
        _ collection: URL,
        options: HTTPStorageOptions = HTTPStorageOptions(),
        transport: any HTTPStorageTransport = URLSessionTransport.shared,
        headers: @escaping @Sendable () async throws -> [String: String] = { [:] }
    ) throws {
        self.collection = try HTTPCollection(collection, itemsEndWithSlash: options.itemAddressesEndWithSlash)
        self.options = options
        self.transport = transport
        self.headers = headers
        objects = JSONObjects(idMember: options.idMember, itemsPath: options.itemsPath)
    }

    /// None: batches are not atomic, positions are not stable, and dates are those of the server.
    public var traits: StorageTraits { [] }

    /// Sends a request and returns the response if it is a success, or reports that an item to read or remove is
    /// absent.
    func send(
        _ method: HTTPStorageRequest.Method, _ url: URL, key: CacheKey? = nil, body: Data? = nil,
        condition: (name: String, value: String)? = nil
    ) async throws -> HTTPStorageResponse {
        try Task.checkCancellation()
        var request = HTTPStorageRequest(
            method: method, url: url, headers: ["Accept": "application/json"], body: body,
            maximumResponseBytes: options.maximumResponseBytes, timeLimit: options.timeLimit)
        if body != nil { request.headers["Content-Type"] = "application/json" }
        // It would not be met when the transport repeats the request, so that is left to the caller.
        if condition != nil { request.isIdempotent = false }
        for (name, value) in try await headers() {
            guard Self.isHeader(name, value) else {
                throw StorageError(.invalidArgument, "A header has no valid name, or a value with control characters.")
            }
            // Names differ only in case.
            if let same = request.headers.keys.first(where: { $0.lowercased() == name.lowercased() }) {
                request.headers[same] = nil
            }
            request.headers[name] = value
        }
        if let condition { request.headers[condition.name] = condition.value }
        let response = try await receive(request, key: key)
        let mayBeAbsent = method != .put || condition?.name == "If-Match"
        if key != nil, mayBeAbsent, response.isAbsence { return response }
        // 203 is a success whose content a proxy has changed, for example its form.
        let isSuccess = method == .get ? [200, 203].contains(response.status) : (200..<300).contains(response.status)
        guard isSuccess else { throw StorageError(response, to: request, key: key) }
        // The engine asks for JSON. The page by which a network asks its user to log in answers any request.
        if method != .get, response.isPage {
            let subject = "\(method.rawValue) \(HTTPCollection.description(of: url))"
            throw StorageError(
                .unreachable,
                "The response is a page of HTML, so it may not be that of the API: the network may ask for a login. "
                    + subject, key: key)
        }
        return response
    }

    private func receive(_ request: HTTPStorageRequest, key: CacheKey?) async throws -> HTTPStorageResponse {
        let subject = "\(request.method.rawValue) \(HTTPCollection.description(of: request.url))"
        let outcome = request.method == .get ? "" : " The server may have applied the change, or may do so later."
        do {
            let response = try await transport.send(request)
            guard response.body.count <= request.maximumResponseBytes else {
                throw StorageError(.tooLarge, "The response is larger than \(request.maximumResponseBytes) bytes.")
            }
            return response
        } catch {
            if Task.isCancelled { throw CancellationError() }
            guard var failure = error as? StorageError else {
                throw StorageError(
                    .unreachable, "The request failed: \(subject).\(outcome)", key: key, cause: error)
            }
            failure.message += " \(subject)\(outcome.isEmpty ? "" : "." + outcome)"
            failure.key = key
            throw failure
        }
    }

    /// Whether a header can't be mistaken for several: RFC 9110, section 5.
    private static func isHeader(_ name: String, _ value: String) -> Bool {
        let isName = name.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"()<>@,;:\\\"/[]?={}".utf8.contains($0) }
        return !name.isEmpty && isName && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}

extension HTTPStorageResponse {
    /// Whether the resource does not exist.
    var isAbsence: Bool { [404, 410].contains(status) }

    /// Whether the body is a page for people.
    var isPage: Bool {
        let type = header("Content-Type")?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        return !body.isEmpty && (type == "text/html" || type == "application/xhtml+xml")
    }
}
