import Bodega
import Foundation
import RecordCoder

/// The input of an import, and its format.
struct ImportInput {

    enum Format: String, CaseIterable, Sendable {
        /// Detected: a folder, an export by its first line, an array by its first bracket, else lines.
        case auto
        /// One JSON value per line.
        case ndjson
        /// One JSON document with an array.
        case json
        /// The output of `export`.
        case export
    }

    /// A path, `nil` or `-` for standard input.
    var path: String?
    var format: Format
    /// The path to the array in a document; it makes ``Format/auto`` mean ``Format/json``.
    var array: JSONPath?
    /// The path to the key in a record.
    var key: JSONPath?
    var keyKind: CacheKey.Kind

    /// Opens the input.
    ///
    /// - Parameter interruption: Ends reading.
    /// - Throws: A ``ToolError`` if it can't be read or an option is missing.
    func records(
        standardInput: any ByteSource, interruption: Interruption = Interruption()
    ) throws -> any RecordSource {
        var source = standardInput
        if let path, path != "-" {
            if try StoreNature(ofPath: path) == .folder { return try folder(path) }
            source = try DescriptorSource(path: path)
        }
        source = InterruptibleSource(source, interruption)
        var window = InputWindow(source)
        try Self.skipByteOrderMark(&window)
        try Self.checkEncoding(&window)
        switch format == .auto ? try detectedFormat(&window) : format {
        case .export:
            guard key == nil, array == nil else {
                throw ToolError(
                    .usage, "The input is an export, whose lines have keys. Leave out --key and --array.")
            }
            return LineRecords(window, total: source.size, form: .export)
        case .json:
            return ArrayRecords(window, total: source.size, array: array, key: try recordKey())
        case .ndjson, .auto:
            guard array == nil else {
                throw ToolError(
                    .usage, "--array is for a JSON document, not for lines. Leave it out, or give --format json.")
            }
            return LineRecords(window, total: source.size, form: .json(try recordKey()))
        }
    }

    private func folder(_ path: String) throws -> any RecordSource {
        guard format == .auto, key == nil, array == nil, keyKind != .url else {
            throw ToolError(
                .usage,
                "\(path) is a folder, whose files' paths are the keys. Leave out --format, --key, --array and --url.")
        }
        return try FolderRecords(root: URL(fileURLWithPath: path, isDirectory: true))
    }

    private func recordKey() throws -> RecordKey {
        guard let key else {
            throw ToolError(.usage, "Name the member of each record that is its key, such as --key id.")
        }
        return RecordKey(path: key, kind: keyKind)
    }

    /// Detects the format from the start of the input.
    private func detectedFormat(_ window: inout InputWindow) throws -> Format {
        if array != nil { return .json }
        while true {
            let (format, isOpen) = window.withUnsafeBytes { bytes -> (Format, Bool) in
                var scanner = JSONScanner(bytes)
                scanner.skipWhitespace()
                let start = UnsafeRawBufferPointer(rebasing: bytes[scanner.position...])
                if Envelope.isHeader(atStartOf: start) { return (.export, false) }
                // A short first line decides at once, so that it does not wait for the next one.
                let isOpen = start.count < Envelope.header.utf8.count && Envelope.header.utf8.starts(with: start)
                return (start.first == UInt8(ascii: "[") ? .json : .ndjson, isOpen)
            }
            if try !isOpen || !window.readMore() { return format }
        }
    }

    /// Checks that the input does not begin like UTF-16 or UTF-32. A JSON text begins with two ASCII characters, or it
    /// is a single one, so the zeros among its first bytes show its encoding: RFC 4627, section 3.
    private static func checkEncoding(_ window: inout InputWindow) throws {
        while window.count < 4, try window.readMore() {}
        let start = window.withUnsafeBytes { Array($0.prefix(4)) }
        let name: String? =
            switch start.map({ $0 == 0 }) {
            case _ where start == [0xFF, 0xFE, 0, 0] || start == [0, 0, 0xFE, 0xFF]: "UTF-32"
            case _ where start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]): "UTF-16"
            case [true, true, true, false]: "UTF-32BE"
            case [false, true, true, true]: "UTF-32LE"
            case [true, false], [true, false, true, false]: "UTF-16BE"
            case [false, true], [false, true, false, true]: "UTF-16LE"
            default: nil
            }
        guard let name else { return }
        throw ToolError(
            .badInput,
            """
            The input seems to be \(name), and import reads UTF-8. Convert it first, for example with \
            iconv --from-code=\(name) --to-code=UTF-8.
            """)
    }

    /// Skips the byte-order mark that some editors write before UTF-8 and that JSON does not allow.
    private static func skipByteOrderMark(_ window: inout InputWindow) throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        while window.count < mark.count, try window.readMore() {}
        if window.withUnsafeBytes({ $0.starts(with: mark) }) { window.consume(mark.count) }
    }
}
