import Foundation

extension QueryCursor {

    /// What the text contains, as JSON in Base64.
    private struct Content: Codable {
        var keys: [Key]
        var position: Int
        var item: String
        var kind: CacheKey.Kind

        enum Key: Codable {
            case integer(Int64), real(UInt64), text(String), none
        }
    }

    init(_ place: QueryPlace, key: CacheKey) throws {
        let keys = place.keys.map { key -> Content.Key in
            switch key {
            case .integer(let integer): .integer(integer)
            case .real(let real): .real(real.bitPattern)
            case .text(let text): .text(text)
            case .none: .none
            }
        }
        let content = Content(
            keys: keys, position: place.position, item: key.identity, kind: key.kind)
        self.init(rawValue: try JSONEncoder().encode(content).base64EncodedString())
    }

    /// The place of the cursor, and the item there.
    ///
    /// - Parameter terms: The number of terms of the query's order.
    /// - Throws: ``StorageError/Code/invalidArgument`` if the cursor belongs to another query.
    func place(terms: Int) throws -> (place: QueryPlace, item: CacheKey) {
        guard let data = Data(base64Encoded: rawValue),
            let content = try? JSONDecoder().decode(Content.self, from: data), content.keys.count == terms
        else {
            throw StorageError(
                .invalidArgument, "The cursor is not one of this query. Begin with the first page.")
        }
        let keys = content.keys.map { key -> StorageSortKey in
            switch key {
            case .integer(let integer): .integer(integer)
            case .real(let bits): StorageSortKey(Double(bitPattern: bits))
            case .text(let text): .text(text)
            case .none: .none
            }
        }
        let item = CacheKey(identity: content.item, kind: content.kind)
        return (QueryPlace(keys: keys, position: content.position), item)
    }
}
