#if Server
import Bodega
import BodegaMessages
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

// Single items.
extension StorageRoutes {

    func item(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        let answer = try await collection.engine.fetch(FetchRequest([request.key()], [.data, .dates, .expiry]))
        guard let item = answer.value.first else { throw RequestRefusal.noItem }
        try request.take(item.data)
        let tag = item.data.entityTag
        var headers: HTTPFields = [
            .eTag: tag, .cacheControl: "no-cache", .contentType: "application/octet-stream", .acceptRanges: "bytes",
            .xContentTypeOptions: "nosniff",
        ]
        if let dates = item.dates {
            headers[.emporiumCreated] = String(dates.createdAt.milliseconds)
            headers[.emporiumUpdated] = String(dates.updatedAt.milliseconds)
        }
        if let match = request.request.headers[.ifMatch], !match.matches(tag) {
            throw RequestRefusal.preconditionFailed
        }
        if let noMatch = request.request.headers[.ifNoneMatch], noMatch.matches(tag) {
            return Response(status: .notModified, headers: headers)
        }
        // A range of another version than the client knows would be joined with bytes of that.
        let isSameVersion = request.request.headers[.ifRange].map { $0 == tag } ?? true
        if request.request.method == .get, isSameVersion, let range = request.request.headers[.range] {
            switch ByteRange(range, of: item.data.count) {
            case .range(let bytes):
                headers[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(item.data.count)"
                return Response(
                    status: .partialContent, headers: headers,
                    body: .inParts(
                        ByteBuffer(bytes: item.data.dropFirst(bytes.lowerBound).prefix(bytes.count)),
                        holding: request.space))
            case .unsatisfiable: throw RequestRefusal.rangeNotSatisfiable(item.data.count)
            case .ignored: break
            }
        }
        if request.request.method == .head {
            headers[.contentLength] = String(item.data.count)
            return Response(status: .ok, headers: headers)
        }
        return Response(
            status: .ok, headers: headers, body: .inParts(ByteBuffer(bytes: item.data), holding: request.space))
    }

    func write(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        // The part would replace the whole item: RFC 9110, section 14.5.
        guard request.request.headers[.contentRange] == nil else {
            throw StorageError(.invalidArgument, "A part of an item can't be written. Send all of it.")
        }
        let data = try await body(of: request)
        let key = try request.key()
        try await change(.write(key: key, data: data), request, claim(request, data), in: collection, key: key)
        return Response(status: .noContent, headers: [.eTag: data.entityTag])
    }

    func remove(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        let key = try request.key()
        try await change(.remove(key: key), request, claim(request, Data()), in: collection, key: key)
        return Response(status: .noContent)
    }

    /// Changes an item if it is as the client states.
    private func change(
        _ operation: StorageOperation, _ request: ClientRequest, _ claim: Receipts.Claim?,
        in collection: ClientCollection, key: CacheKey
    ) async throws {
        // Before the comparison of tags, which takes a note that the condition was not met.
        guard request.client.scope(of: collection.name)?.rights.contains(.write) ?? false else {
            throw StorageError(.permissionDenied, "The right to write items is missing here.")
        }
        let headers = request.request.headers
        let origin = try headers[.emporiumOrigin].map { request.mask.masked(try StorageOrigin(header: $0)) }
        var batch = StorageBatch([operation], origin: origin)
        guard headers[.ifMatch] != nil || headers[.ifNoneMatch] != nil else {
            guard try await apply([(collection.engine, batch)], claim).allSatisfy(\.value.wasApplied) else {
                throw StorageError(
                    .conflict, "The request was given up before, so that it is not carried out any more.", key: key)
            }
            return
        }
        // The tag is that of an item's bytes, and the batch is applied only if these are still the same.
        for _ in 0..<100 {
            if let claim, let receipts, try await receipts.outcome(of: claim) == .refused {
                throw RequestRefusal.preconditionFailed
            }
            let stored = try await collection.engine.fetch(key: key)
            guard headers.allowChange(of: stored?.entityTag) else {
                // Not any more, if the request was carried out before, or in the meantime.
                if let claim, let receipts, try await receipts.refuse(claim) == .carriedOut { return }
                throw RequestRefusal.preconditionFailed
            }
            batch.conditions = [StorageCondition(key: key, data: stored)]
            if try await apply([(collection.engine, batch)], claim).allSatisfy(\.value.wasApplied) { return }
        }
        throw StorageError(.conflict, "The item was changed during each of 100 attempts. Try again.", key: key)
    }
}

extension HTTPFields {
    /// Whether the conditions of a change are met by an item; see RFC 9110, section 13.
    ///
    /// - Parameter tag: The tag of the item; `nil` if there is none.
    fileprivate func allowChange(of tag: String?) -> Bool {
        if let match = self[.ifMatch] {
            guard let tag, match.matches(tag) else { return false }
        }
        guard let noMatch = self[.ifNoneMatch], let tag else { return true }
        return !noMatch.matches(tag)
    }
}

extension StorageRoutes.ClientRequest {
    /// Counts an item as memory that is used until the client has read it, unless it is small.
    func take(_ item: Data) throws {
        if item.count <= 64 << 10 { return }
        do { try space.take(item.count) } catch let shortage as SharedSpace.Shortage {
            throw RequestRefusal.noMemory(shortage)
        }
    }

    /// The key of the item in the path, with its kind in the query.
    func key() throws -> CacheKey {
        let kind = try request.uri.queryParameters["kind"].map { name in
            guard let kind = CacheKey.Kind(rawValue: String(name)) else {
                throw StorageError(.invalidArgument, "The kind of a key is hashed, url or verbatim.")
            }
            return kind
        }
        return CacheKey(identity: parameters["key"] ?? "", kind: kind ?? .hashed)
    }
}

extension StorageOrigin {
    fileprivate init(header: String) throws {
        guard let id = UUID(uuidString: header) else {
            throw StorageError(.invalidArgument, "The header Emporium-Origin is not a UUID.")
        }
        self.init(id: id)
    }
}

extension Data {
    /// A strong entity tag: equal tags mean equal bytes.
    var entityTag: String {
        let digest = Data(SHA256.hash(data: self)).prefix(18).base64EncodedString()
        return "\"\(digest)\""
    }
}

extension String {
    /// Whether a list of entity tags has one; see RFC 9110, section 13.1.
    fileprivate func matches(_ tag: String) -> Bool {
        let tags = split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        // An asterisk among others is a part of a tag with commas. A proxy that compresses an answer makes its tag
        // weak; it is still that of the item's bytes.
        return tags == ["*"] || tags.contains(tag) || tags.contains("W/" + tag)
    }
}

/// A range of bytes that a request asks for; see RFC 9110, section 14.
private enum ByteRange {
    case range(Range<Int>)
    case unsatisfiable
    /// It is not understood, or there are several.
    case ignored

    init(_ header: String, of count: Int) {
        let parts = header.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "bytes" else { self = .ignored; return }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            self = .ignored
            return
        }
        // A number that is too large for an integer is beyond each end.
        let positions = ends.map { $0.isEmpty ? nil : Int($0) ?? .max }
        switch (positions[0], positions[1]) {
        case (let first?, let last?) where first <= last:
            self = first < count ? .range(first..<(last < count ? last + 1 : count)) : .unsatisfiable
        case (let first?, nil):
            self = first < count ? .range(first..<count) : .unsatisfiable
        case (nil, let length?):
            self = length > 0 && count > 0 ? .range(Swift.max(0, count - length)..<count) : .unsatisfiable
        default: self = .ignored
        }
    }
}

extension HTTPField.Name {
    /// The name of a header that is valid.
    static func named(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is no name of a header.") }
        return name
    }

    static let host = named("Host")
    static let emporiumCreated = named("Emporium-Created")
    static let emporiumUpdated = named("Emporium-Updated")
    static let emporiumOrigin = named("Emporium-Origin")
}
#endif
