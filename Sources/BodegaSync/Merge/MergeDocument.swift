import Foundation

/// One version of an item.
struct MergeDocument {
    let data: Data
    let bytes: [UInt8]
    /// `nil` if the item is not JSON in UTF-8 or is nested too deeply.
    let root: MergeNode?

    init(_ data: Data, _ values: inout MergeValues) {
        self.data = data
        let bytes = [UInt8](data)
        self.bytes = bytes
        root = bytes.withUnsafeBytes { MergeParser.document($0, &values) }
    }
}
