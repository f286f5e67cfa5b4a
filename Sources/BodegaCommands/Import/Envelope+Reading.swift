import Bodega
import Foundation
import RecordCoder

extension Envelope {

    /// Whether a text begins like the ``header`` of any version.
    static func isHeader(atStartOf text: UnsafeRawBufferPointer) -> Bool {
        text.starts(with: #"{"$bodega":"#.utf8)
    }

    /// Reads a line.
    ///
    /// - Parameter scanner: Moved past the object.
    /// - Returns: The item, `nil` for the header, or the flaw of a line that is JSON but not an item.
    static func read(from scanner: inout JSONScanner) throws(JSONScanError) -> Result<ImportRecord?, RecordFlaw> {
        if isHeader(atStartOf: UnsafeRawBufferPointer(rebasing: scanner.bytes[scanner.position...])) {
            let object = UnsafeRawBufferPointer(rebasing: scanner.bytes[try scanner.skipValue()])
            if object.elementsEqual(header.utf8) { return .success(nil) }
            return .failure(
                RecordFlaw(
                    "It begins an export in a format that this version of bodega does not support. Update bodega."))
        }
        let start = scanner.position
        guard try scanner.peek() == UInt8(ascii: "{") else {
            try scanner.skipValue()
            return .failure(RecordFlaw("It is not an object, as each line of an export has to be."))
        }
        var members = Members()
        scanner.position += 1
        scanner.skipWhitespace()
        if try scanner.peek() == UInt8(ascii: "}") {
            scanner.position += 1
        } else {
            var separator = UInt8(ascii: ",")
            while separator == UInt8(ascii: ",") {
                let nameRange = try scanner.skipString()
                try scanner.expect(UInt8(ascii: ":"))
                let valueRange = try scanner.skipValue()
                let name = JSONString.decode(UnsafeRawBufferPointer(rebasing: scanner.bytes[nameRange])) ?? ""
                let value = UnsafeRawBufferPointer(rebasing: scanner.bytes[valueRange])
                guard members.values.updateValue(value, forKey: name) == nil else {
                    return .failure(RecordFlaw("It has \"\(name)\" twice."))
                }
                if !Members.known.contains(name) { members.unknown = name }
                scanner.skipWhitespace()
                separator = try scanner.peek()
                guard separator == UInt8(ascii: ",") || separator == UInt8(ascii: "}") else {
                    throw .unexpectedByte(at: scanner.position)
                }
                scanner.position += 1
            }
        }
        guard isValidUTF8(UnsafeRawBufferPointer(rebasing: scanner.bytes[start..<scanner.position])) else {
            return .failure(RecordFlaw("It is not valid UTF-8."))
        }
        return members.record()
    }

    /// The members of an object, as JSON.
    private struct Members {
        static let known: Set = ["key", "kind", "json", "text", "base64"]

        var values: [String: UnsafeRawBufferPointer] = [:]
        /// The last one that is not a member of an export's lines.
        var unknown: String?

        func record() -> Result<ImportRecord?, RecordFlaw> {
            if let unknown {
                return .failure(RecordFlaw("It has \"\(unknown)\", which is not a member of an export's lines."))
            }
            guard let rawValue = values["key"].flatMap(Self.string) else {
                return .failure(RecordFlaw("It lacks a \"key\" that is a string."))
            }
            var keyKind = CacheKey.Kind.hashed
            if let kind = values["kind"] {
                guard let known = Self.string(kind).flatMap(CacheKey.Kind.init(rawValue:)) else {
                    return .failure(RecordFlaw("Its \"kind\" is not one of hashed, url and verbatim."))
                }
                keyKind = known
            }
            guard let data else {
                return .failure(RecordFlaw("It needs one of \"json\", a string \"text\" and a valid \"base64\"."))
            }
            return .success(ImportRecord(key: CacheKey(rawValue: rawValue, kind: keyKind), data: data))
        }

        private var data: Data? {
            switch (values["json"], values["text"], values["base64"]) {
            case (let json?, nil, nil): Data(json)
            case (nil, let text?, nil): Self.string(text).map { Data($0.utf8) }
            case (nil, nil, let base64?): Self.string(base64).flatMap { Data(base64Encoded: $0) }
            default: nil
            }
        }

        private static func string(_ value: UnsafeRawBufferPointer) -> String? {
            guard value.first == UInt8(ascii: "\"") else { return nil }
            return JSONString.decode(UnsafeRawBufferPointer(rebasing: value[1..<value.count - 1]))
        }
    }
}
