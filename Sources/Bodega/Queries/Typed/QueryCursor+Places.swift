import Foundation

extension QueryCursor {

    // The text consists of parts, separated by dots: the place of each term of the order, the position, and the item's
    // kind of key and key. A part begins with a letter for its form. In the order of relevance, there is one more part
    // before these: what the relevance of objects depends on.

    /// The maximum number of bytes of a text or a value in a cursor. For a longer one, the item is read again.
    private static let maximumSize = 1_000

    /// A part for the place of a term that is read from the item.
    ///
    /// - Parameter bytes: The place, of which the part has the 64-bit FNV-1a hash, so that a change of the item is
    ///   noticed; `nil` if it can't be encoded.
    private static func itemPart(_ bytes: (some Sequence<UInt8>)?) -> String {
        guard let bytes else { return "k" }
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "k\(String(hash, radix: 16))"
    }

    /// - Parameters:
    ///   - place: The place of the last item of a page.
    ///   - key: The item's key.
    ///   - coder: The coder of the items.
    ///   - ranking: What their relevance depends on, if that is the order.
    init(_ place: QueryPlace, key: CacheKey, coder: any ObjectCoder, ranking: SearchRanking?) {
        var parts = ranking.map { [Self.part(of: $0)] } ?? []
        parts += place.keys.indices.map { term in
            Self.part(of: place.keys[term], place.values.isEmpty ? nil : place.values[term], coder: coder)
        }
        parts.append(String(place.position))
        parts.append(key.kind.rawValue)
        parts.append(Data(key.identity.utf8).base64EncodedString())
        self.init(rawValue: parts.joined(separator: "."))
    }

    private static func part(of key: StorageSortKey, _ value: SwiftValue?, coder: any ObjectCoder) -> String {
        if let value { return part(of: value, coder: coder) }
        switch key {
        case .integer(let integer): return "i\(integer)"
        case .real(let real): return "r\(String(real.bitPattern, radix: 16))"
        case .text(let text) where text.utf8.count > maximumSize: return itemPart(text.utf8)
        case .text(let text): return "t\(Data(text.utf8).base64EncodedString())"
        case .none: return "n"
        }
    }

    /// The part for a value that Swift compares: its JSON, if that is short, and the value can be decoded from it.
    private static func part(of value: SwiftValue, coder: any ObjectCoder) -> String {
        func encode(_ value: some Encodable) throws -> Data { try json(coder).encode([value]) }
        guard let encodable = value.value as? any Encodable else { return itemPart(Data?.none) }
        do {
            let data = try encode(encodable)
            guard data.count <= maximumSize, let same = try decode(type(of: value.value), from: data, coder: coder),
                !same.isLess(than: value), !value.isLess(than: same)
            else { return itemPart(data) }
            return "v\(data.base64EncodedString())"
        } catch {
            // The next page begins with a read of the item.
            return itemPart(Data?.none)
        }
    }

    private static func json(_ coder: any ObjectCoder) -> JSONObjectCoder { coder as? JSONObjectCoder ?? .json }

    private static func decode(_ type: Any.Type, from data: Data, coder: any ObjectCoder) throws -> SwiftValue? {
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Any? {
            try json(coder).decode([Value].self, from: data).first
        }
        guard let type = type as? any Decodable.Type else { return nil }
        return (try decode(type) as? any Comparable).map(SwiftValue.init)
    }

    /// The place of the cursor, and the key of the item there.
    ///
    /// - Parameters:
    ///   - ordering: The order of the query.
    ///   - coder: The coder of the items.
    ///   - object: Reads the item.
    /// - Throws: ``StorageError/Code/invalidArgument`` if the cursor can't be one of this order: the number of terms or
    ///   the type of one differs.
    func place<Object>(
        in ordering: QueryOrdering<Object>, coder: any ObjectCoder, reading object: (CacheKey) async throws -> Object
    ) async throws -> (place: QueryPlace, item: CacheKey) {
        let parts = rawValue.split(separator: ".", omittingEmptySubsequences: false)
            .dropFirst(ordering.isByRelevance ? 1 : 0).map { $0 }
        let (terms, count) = (ordering.terms, ordering.running.count)
        guard parts.count == count + 3, let position = Int(parts[count]),
            let kind = CacheKey.Kind(rawValue: String(parts[count + 1])), let identity = Self.text(parts[count + 2])
        else { throw Self.isForeign }
        let item = CacheKey(identity: identity, kind: kind)
        var (keys, values): ([StorageSortKey], [SwiftValue?]) = ([], [])
        var itemKeys: QueryKeys?
        for (index, part) in parts.prefix(count).enumerated() {
            if ordering.isByRelevance {
                keys.append(try Self.place(part, of: nil, coder: coder).key)
                values.append(nil)
            } else if part.first == "k" {
                let read = if let itemKeys { itemKeys } else { ordering.keys(of: try await object(item)) }
                itemKeys = read
                let value = read.values.isEmpty ? nil : read.values[index]
                guard part == "k" || part == Self.part(of: read.keys[index], value, coder: coder) else {
                    throw StorageError(
                        .invalidArgument, "The item at the cursor was changed. Begin with the first page.", key: item)
                }
                keys.append(read.keys[index])
                values.append(value)
            } else {
                let place = try Self.place(part, of: terms[index].order, coder: coder)
                keys.append(place.key)
                values.append(place.value)
            }
        }
        return (QueryPlace(QueryKeys(keys, values), position: position), item)
    }

    private static func place(
        _ part: Substring, of order: ValueOrder?, coder: any ObjectCoder
    ) throws -> (key: StorageSortKey, value: SwiftValue?) {
        let value = part.dropFirst()
        var key: StorageSortKey?
        switch part.first {
        case "i": key = Int64(value).map(StorageSortKey.integer)
        case "r": key = UInt64(value, radix: 16).map { StorageSortKey(Double(bitPattern: $0)) }
        case "t": key = Self.text(value).map(StorageSortKey.text)
        case "n": if value.isEmpty { key = StorageSortKey.none }
        case "v":
            guard let order, let data = Data(base64Encoded: String(value)) else { break }
            do {
                if let value = try decode(order.type, from: data, coder: coder) {
                    return order.place(of: value.value, dates: nil)
                }
            } catch {
                throw isForeign
            }
        default: break
        }
        guard let key, order?.canHave(key) ?? true else { throw Self.isForeign }
        return (key, nil)
    }

    // MARK: Relevance

    private static func part(of ranking: SearchRanking) -> String {
        "s" + ([ranking.count, ranking.length] + ranking.found).map(String.init).joined(separator: "-")
    }

    /// What the relevance of objects depends on, as of the first page.
    ///
    /// - Parameter phrases: The number of phrases of the search.
    /// - Throws: ``StorageError/Code/invalidArgument`` if the cursor belongs to another query.
    func ranking(phrases: Int) throws -> SearchRanking {
        let part = rawValue.prefix { $0 != "." }
        let texts = part.dropFirst().split(separator: "-", omittingEmptySubsequences: false)
        let numbers = texts.compactMap { Int($0) }
        guard part.first == "s", numbers.count == texts.count, numbers.count == phrases + 2,
            numbers.allSatisfy({ $0 >= 0 }), numbers.dropFirst(2).allSatisfy({ $0 <= numbers[0] })
        else { throw Self.isForeign }
        var ranking = SearchRanking(phrases: phrases)
        (ranking.count, ranking.length, ranking.found) = (numbers[0], numbers[1], Array(numbers[2...]))
        return ranking
    }

    private static func text(_ part: Substring) -> String? {
        Data(base64Encoded: String(part)).flatMap { String(data: $0, encoding: .utf8) }
    }

    private static var isForeign: StorageError {
        StorageError(.invalidArgument, "The cursor is not one of this query. Begin with the first page.")
    }
}
