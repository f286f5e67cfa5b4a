import Foundation

extension QueryCursor {

    // The text consists of parts, separated by dots: the sort keys, the position, and the item's
    // kind of key and key.

    init(_ place: QueryPlace, key: CacheKey) {
        var parts = place.keys.map { key in
            switch key {
            case .integer(let integer): "i\(integer)"
            case .real(let real): "r\(String(real.bitPattern, radix: 16))"
            case .text(let text): "t\(Data(text.utf8).base64EncodedString())"
            case .none: "n"
            }
        }
        parts.append(String(place.position))
        parts.append(key.kind.rawValue)
        parts.append(Data(key.identity.utf8).base64EncodedString())
        self.init(rawValue: parts.joined(separator: "."))
    }

    /// The place of the cursor, and the key of the item there.
    ///
    /// - Parameter terms: The number of terms of the query's order.
    /// - Throws: ``StorageError/Code/invalidArgument`` if the cursor belongs to another query.
    func place(terms: Int) throws -> (place: QueryPlace, item: CacheKey) {
        let parts = rawValue.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == terms + 3, let position = Int(parts[terms]),
            let kind = CacheKey.Kind(rawValue: String(parts[terms + 1])), let identity = Self.text(parts[terms + 2])
        else { throw Self.isForeign }
        let keys = try parts.prefix(terms).map { part -> StorageSortKey in
            let value = part.dropFirst()
            switch part.first {
            case "i": if let integer = Int64(value) { return .integer(integer) }
            case "r": if let bits = UInt64(value, radix: 16) { return StorageSortKey(Double(bitPattern: bits)) }
            case "t": if let text = Self.text(value) { return .text(text) }
            case "n": if value.isEmpty { return .none }
            default: break
            }
            throw Self.isForeign
        }
        return (QueryPlace(keys: keys, position: position), CacheKey(identity: identity, kind: kind))
    }

    private static func text(_ part: Substring) -> String? {
        Data(base64Encoded: String(part)).flatMap { String(data: $0, encoding: .utf8) }
    }

    private static var isForeign: StorageError {
        StorageError(.invalidArgument, "The cursor is not one of this query. Begin with the first page.")
    }
}
