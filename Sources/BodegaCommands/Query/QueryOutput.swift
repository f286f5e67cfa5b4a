import Bodega
import Foundation
import RecordCoder

/// The found items, as lines or as a table.
struct QueryOutput {
    /// The selected values; empty for the whole items.
    private let paths: [JSONPath]
    private let isJSON: Bool
    /// The references whose items are printed.
    private let included: [StorageReference]
    private var table: TextTable
    private var lines: BufferedOutput

    init(
        selecting paths: [JSONPath], including included: IncludedItems?, asJSON isJSON: Bool, on console: Console
    ) {
        self.paths = paths
        self.isJSON = isJSON
        self.included = included?.members.map(\.reference) ?? []
        let header = ["key"] + (paths.isEmpty ? ["item"] : paths.map(\.description)) + (included?.titles ?? [])
        table = TextTable(header: header, console: console)
        lines = BufferedOutput(console.output)
    }

    /// Writes items, so that the reader of the output sees them while the query goes on.
    ///
    /// - Parameter included: For each item and each reference, the items that it names.
    mutating func write(_ items: [FoundItem], _ included: [[[Data]]]) throws {
        for (number, item) in items.enumerated() {
            let included = included.isEmpty ? [] : included[number]
            if isJSON {
                try lines.write(line(item, included))
            } else {
                try table.add([item.key.rawValue] + cells(item.data) + zip(self.included, included).map(Self.cell))
            }
        }
        try lines.flush()
        try table.flush()
    }

    private func line(_ item: FoundItem, _ included: [[Data]]) -> [UInt8] {
        let line = Envelope.line(key: item.key, data: json(item.data))
        if included.isEmpty { return line }
        var object = JSONObjectWriter()
        for (reference, items) in zip(self.included, included) {
            let value = reference.isList ? Self.list(items) : items.first.map(Self.compact) ?? Data("null".utf8)
            value.withUnsafeBytes { object.add(reference.path, json: $0) }
        }
        // Before the brace and the line end.
        return line.dropLast(2) + Array(#","included":"#.utf8) + object.line().dropLast() + Array("}\n".utf8)
    }

    private static func cell(_ reference: StorageReference, _ items: [Data]) -> String {
        let value = reference.isList ? list(items) : items.first.map(compact) ?? Data()
        return String(decoding: value, as: UTF8.self)
    }

    private static func list(_ items: [Data]) -> Data {
        Data("[".utf8) + Data(items.map(compact).joined(separator: Data(",".utf8))) + Data("]".utf8)
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
