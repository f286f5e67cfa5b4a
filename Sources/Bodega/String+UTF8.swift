extension String {

    /// Makes a string from UTF-8.
    ///
    /// The standard library's own initializer for this needs newer Apple systems than this package.
    ///
    /// - Returns: `nil` if the bytes are not valid UTF-8.
    init?(validUTF8 bytes: some Collection<UInt8>) {
        self.init(decoding: bytes, as: UTF8.self)
        // Repairing changes the bytes.
        guard utf8.elementsEqual(bytes) else { return nil }
    }
}
