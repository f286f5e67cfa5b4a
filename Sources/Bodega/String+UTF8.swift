import Foundation

extension String {

    /// Makes a string from UTF-8.
    ///
    /// The standard library's own initializer for this needs newer Apple systems than this package.
    ///
    /// - Returns: `nil` if the bytes are not valid UTF-8.
    init?(validUTF8 bytes: some Collection<UInt8>) {
        self.init(decoding: bytes, as: UTF8.self)
        // Repairing changes the bytes.
        let isUnchanged: Bool?? = bytes.withContiguousStorageIfAvailable { bytes in
            utf8.withContiguousStorageIfAvailable { utf8 in
                guard let start = bytes.baseAddress, let copy = utf8.baseAddress else {
                    return utf8.count == bytes.count
                }
                return utf8.count == bytes.count && memcmp(start, copy, bytes.count) == 0
            }
        }
        guard (isUnchanged ?? nil) ?? utf8.elementsEqual(bytes) else { return nil }
    }
}
