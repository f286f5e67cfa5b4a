import Bodega

/// Reads the arguments of the process, which can be any bytes, as text.
///
/// `CommandLine.arguments` replaces bytes that are not UTF-8, so that different keys and paths would become the same.
enum ArgumentText {

    /// Decodes the arguments of the process.
    ///
    /// - Parameter arguments: The arguments without the name of the program.
    /// - Throws: A ``ToolError`` that names the first one that is not valid UTF-8.
    static func decoded(_ arguments: some Collection<[UInt8]>) throws(ToolError) -> [String] {
        var texts: [String] = []
        for (number, bytes) in arguments.enumerated() {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                let repaired = String(decoding: bytes, as: UTF8.self)
                // An address may contain a password.
                let name = StorageAddress.mayHoldSecret(repaired) ? "" : ", \(escaped(bytes)),"
                throw ToolError(
                    .usage,
                    """
                    Argument \(number + 1)\(name) is not valid UTF-8, so it can't be a key, a path or an option. Use a \
                    terminal whose encoding is UTF-8; rename a file with such a name, or import its folder.
                    """)
            }
            texts.append(text)
        }
        return texts
    }

    /// The bytes as a shell can write them in `$'…'`.
    private static func escaped(_ bytes: [UInt8]) -> String {
        let text = bytes.map { byte in
            let isPlain = (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "'") && byte != UInt8(ascii: "\\")
            return isPlain ? String(Unicode.Scalar(byte)) : "\\x" + byte.hexadecimal
        }
        return "$'\(text.joined())'"
    }
}
