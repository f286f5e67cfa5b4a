import Foundation
import RecordCoder

extension StorageSortKey {
    /// The place of the first element of a JSON array; `nil` if the text is not one, or is empty.
    init?(firstElementOf json: Data) {
        let key: StorageSortKey? = json.withUnsafeBytes { bytes in
            guard let document = JSONScanner.document(bytes),
                let element = JSONQuery(selectors: [.index(0)]).find(in: bytes, document)
            else { return nil }
            return StorageSortKey(bytes, element)
        }
        guard let key else { return nil }
        self = key
    }
}
