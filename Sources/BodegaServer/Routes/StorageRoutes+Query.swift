#if Server
import Bodega
import BodegaMessages
import Crypto
import Foundation
import Hummingbird
import RecordCoder

// Queries for clients that have no engine of their own, such as a script or a page in a browser.
extension StorageRoutes {

    /// Answers with the items that meet a filter, a page at a time, or with their number.
    func query(_ request: ClientRequest, in collection: ClientCollection) async throws -> Response {
        let wanted = try ItemQuery(
            await message(request), of: collection.name, seconds: limits.querySeconds)
        let reader = StorageReader(collection.engine)
        return try await lines(for: request.client) { spool in
            if wanted.isCount {
                let count = try await wanted.query.count(in: reader)
                return try spool.appendEnd { $0.add("count", count) }
            }
            let next = try await wanted.page(of: collection.engine, reader, to: spool)
            try spool.appendEnd { object in if let next { object.add("next", next) } }
        }
    }
}

extension StorageItem {
    fileprivate var withoutData: StorageItem {
        var item = self
        item.data = Data()
        return item
    }
}

/// A query of items that are JSON.
private struct ItemQuery {
    /// The maximum number of characters of a filter, as JSON counts them. A longer one would nest as deeply as it has
    /// terms.
    private static let maximumFilterLength = 4_096
    private static let maximumTerms = 8
    private static let maximumLimit = 1_000
    /// The number of bytes of items that are kept while others are looked for.
    private static let maximumBytes = 1 << 20

    var query: StorageQuery<StorageItem>
    /// The maximum number of items.
    var limit = 100
    /// Whether only their number is wanted.
    var isCount = false
    /// The end of the page before.
    var cursor: Cursor?

    /// A term of the order.
    private struct Term: JSONReadable {
        let path: String
        let isDescending: Bool

        init(_ part: JSONPart) throws {
            let members = try part.members()
            try members.check(names: ["path", "descending"])
            path = try members.required("path").path()
            isDescending = try members.bool("descending")
        }
    }

    /// What distinguishes the query from others, whose pages end elsewhere.
    private let digest: String

    init(_ part: JSONPart, of collection: String, seconds: Double) throws {
        let members = try part.members()
        try members.check(names: ["filter", "order", "limit", "after", "count"])
        let terms: [Term] = try members.list("order")
        guard terms.count <= Self.maximumTerms else {
            throw part.error("a query with an order of at most \(Self.maximumTerms) terms")
        }
        let filterText = try members.string("filter")
        let texts = [collection, filterText ?? ""] + terms.flatMap { [$0.path, $0.isDescending ? "d" : "a"] }
        digest = Data(SHA256.hash(data: Data(texts.joined(separator: "\0").utf8)).prefix(12)).base64EncodedString()
        let filter = try filterText.map { text in
            guard text.unicodeScalars.count <= Self.maximumFilterLength else {
                throw part.error("a query with a filter of at most \(Self.maximumFilterLength) characters")
            }
            return try JSONFilterParser.parse(text)
        }
        // Texts are compared by their scalars, as those of a filter.
        let order = terms.map { StorageIndex.Member($0.path, isForText: false) }
        let paths = order.map(\.query)
        let end = ContinuousClock.now + .seconds(seconds)
        query = StorageQuery(
            condition: filter?.condition ?? .constant(true),
            order: zip(order, terms).map { QueryTerm(path: $0.path, isDescending: $1.isDescending) }
        ) { item, receive in
            let keys = item.data.withUnsafeBytes { bytes -> [StorageSortKey]? in
                // What is not JSON meets no filter, and has no value to sort by. What is not even text has no place in
                // the order of an index, so that it is left out without one, too.
                let isText = isValidUTF8(bytes)
                guard isText, let range = JSONScanner.document(bytes) else {
                    return filter == nil && (isText || paths.isEmpty) ? paths.map { _ in .none } : nil
                }
                if let filter, !filter.accepts(bytes, range, until: end) { return nil }
                return paths.map { StorageSortKey(bytes, $0.find(in: bytes, range)) }
            }
            // Also after a regular expression that was given up.
            guard ContinuousClock.now < end else {
                throw StorageError(
                    .tooLarge, "The query takes longer than \(seconds) seconds, the limit. An index may help.")
            }
            if keys != nil { receive(item) }
            return keys
        }
        isCount = try members.bool("count")
        if let wanted = try members.int("limit") {
            guard (1...Self.maximumLimit).contains(wanted) else {
                throw part.error("a query with a limit from 1 to \(Self.maximumLimit)")
            }
            limit = wanted
        }
        cursor = try members["after"].map { try Cursor($0, of: digest, termCount: terms.count) }
    }

    /// Appends the lines of a page. If its items are large, they are read again, a few at a time.
    ///
    /// - Returns: The end of the page, if there are more.
    func page(
        of engine: any StorageBackend, _ reader: StorageReader, to spool: AnswerSpool
    ) async throws -> String? {
        let bytes = Locked(0)
        let page = try await page(from: reader) { item in
            let isSmall = bytes.withLock { bytes in
                bytes += item.data.count
                return bytes <= Self.maximumBytes
            }
            return isSmall ? item : item.withoutData
        }
        if bytes.withLock({ $0 <= Self.maximumBytes }) {
            for item in page.matches { try spool.append { item.add(to: &$0, .data) } }
            return end(of: page)
        }
        let next = Locked<String?>(nil)
        try await engine.atOneMoment {
            try spool.checkIsEmpty()
            let page = try await self.page(from: reader, \.withoutData)
            _ = try await engine.fetchInParts(FetchRequest(page.matches.map(\.key), [.data, .place]), to: spool)
            next.withLock { $0 = end(of: page) }
        }
        return next.withLock { $0 }
    }

    private func page(
        from reader: StorageReader, _ transform: @escaping @Sendable (StorageItem) -> StorageItem
    ) async throws -> QueryMatches<StorageItem> {
        let query = query.map { _, item in
            var item = transform(item)
            // Whether an index was used is nothing that a client needs to know.
            (item.sortKey, item.sortKeys) = (nil, [])
            return item
        }
        return try await query.page(from: reader, limit: limit, after: cursor?.place, item: cursor?.key)
    }

    private func end(of page: QueryMatches<StorageItem>) -> String? {
        guard page.hasMore, let place = page.places.last, let item = page.matches.last else { return nil }
        return end(at: place, of: item.key)
    }

    /// The end of a page, a text that a client passes back.
    private func end(at place: QueryPlace, of key: CacheKey) -> String {
        var line: [UInt8] = []
        JSONObjectWriter.appendLine(to: &line) { object in
            object.add("query", digest)
            object.add("keys", place.keys)
            object.add("position", place.position)
            key.add(to: &object)
        }
        return Data(line).base64EncodedString()
    }

    /// The end of the page before.
    struct Cursor {
        let place: QueryPlace
        let key: CacheKey

        init(_ part: JSONPart, of digest: String, termCount: Int) throws {
            let members = try JSONPart(part.base64()).members()
            let keys: [StorageSortKey] = try members.list("keys")
            guard try members.required("query").string() == digest, keys.count == termCount else {
                throw part.error("the end of a page of this query")
            }
            place = QueryPlace(QueryKeys(keys), position: try members.required("position").int())
            key = try CacheKey(members)
        }
    }
}
#endif
