package import Foundation
import RecordCoder

/// The texts of an item that an index for searches knows.
package struct StoredTexts: Sendable {
    private let queries: [JSONQuery]

    package init(of index: StorageIndex) { queries = index.members.map(\.query) }

    /// The text of each member; `nil` for one that is neither a text nor a list with texts, and for all if the item is
    /// not JSON.
    package func texts(of data: Data) -> [String?] {
        data.withUnsafeBytes { bytes in
            guard isValidUTF8(bytes), let range = JSONScanner.document(bytes) else { return queries.map { _ in nil } }
            return queries.map { Self.text(in: bytes, $0.find(in: bytes, range)) }
        }
    }

    /// What the texts have of a pattern, `nil` if there is none.
    package func counts(of pattern: SearchPattern, in data: Data) -> SearchCounts? {
        let texts = texts(of: data)
        return texts.allSatisfy { $0 == nil } ? nil : SearchCounts(of: pattern, in: texts)
    }

    private static func text(in bytes: UnsafeRawBufferPointer, _ range: Range<Int>?) -> String? {
        guard let range else { return nil }
        guard bytes[range.lowerBound] == UInt8(ascii: "[") else { return string(in: bytes, range) }
        var texts: [String] = []
        JSONScanner.forEachElement(of: bytes, range) { if let text = string(in: bytes, $0) { texts.append(text) } }
        return texts.isEmpty ? nil : texts.joined(separator: "\n")
    }

    private static func string(in bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> String? {
        guard bytes[range.lowerBound] == UInt8(ascii: "\""), case .text(let text) = StorageSortKey(bytes, range) else {
            return nil
        }
        return text
    }
}
