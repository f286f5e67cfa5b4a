import Bodega
import Foundation
import RecordCoder

/// The found items, as lines or as a table.
struct QueryOutput {
    /// The selected values; empty for the whole items.
    private let paths: [JSONPath]
    private let isJSON: Bool
    private var table: TextTable
    private var lines: BufferedOutput

    init(selecting paths: [JSONPath], asJSON isJSON: Bool, on console: Console) {
        self.paths = paths
        self.isJSON = isJSON
        table = TextTable(header: ["key"] + (paths.isEmpty ? ["item"] : paths.map(\.description)), console: console)
        lines = BufferedOutput(console.output)
    }

    /// Writes items, so that the reader of the output sees them while the query goes on.
    mutating func write(_ items: [FoundItem]) throws {
        for item in items {
            if isJSON {
                try lines.write(Envelope.line(key: item.key, data: json(item.data)))
            } else {
                try table.add([item.key.rawValue] + cells(item.data))
            }
        }
        try lines.flush()
        try table.flush()
    }

    /// Writes the rest.
    mutating func finish() throws { try table.finish() }

    private func json(_ item: Data) -> Data {
        if paths.isEmpty { return Self.compact(item) }
        return item.withUnsafeBytes { bytes in
            var object = JSONObjectWriter()
            for (path, range) in zip(paths, values(in: bytes)) {
                guard let range else { continue }
                Self.compact(Data(bytes[range])).withUnsafeBytes { object.add(path.description, json: $0) }
            }
            return Data(object.line().dropLast())
        }
    }

    private func cells(_ item: Data) -> [String] {
        item.withUnsafeBytes { bytes in
            paths.isEmpty
                ? [Self.text(bytes, 0..<bytes.count)]
                : values(in: bytes).map { $0.map { Self.cell(bytes, $0) } ?? "" }
        }
    }

    private func values(in bytes: UnsafeRawBufferPointer) -> [Range<Int>?] {
        guard let document = JSONScanner.document(bytes) else { return paths.map { _ in nil } }
        return paths.map { JSONQuery($0).find(in: bytes, document) }
    }

    /// A value as a cell: strings without their quotes, other values as JSON on one line.
    private static func cell(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> String {
        if case .string(let string)? = JSONValue(bytes, range) { return string }
        return text(bytes, range)
    }

    private static func text(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> String {
        String(decoding: compact(Data(bytes[range])), as: UTF8.self)
    }

    /// Trimmed JSON on one line: unchanged if it has no line ends, else without the whitespace between its tokens.
    private static func compact(_ json: Data) -> Data {
        let json = json.withUnsafeBytes { bytes in JSONScanner.document(bytes).map { Data(bytes[$0]) } } ?? json
        guard json.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else { return json }
        return Data(JSONText.withoutWhitespace(json))
    }
}
