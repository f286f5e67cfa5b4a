import Bodega
import Foundation
import RecordCoder

/// The format of an item in an export: an object on one line, with the item's key and bytes.
///
/// ```json
/// {"$bodega":{"export":1}}
/// {"key":"dolly","json":{"name":"Dolly"}}
/// {"key":"notes/a.txt","kind":"verbatim","text":"two\nlines"}
/// {"key":"example.com","kind":"url","base64":"/9j/"}
/// ```
///
/// The first line is the ``header``, by which an import distinguishes an export from other lines that have a `key`. It
/// may occur repeatedly, so exports can be concatenated. `kind` is left out for hashed keys. The bytes are in one of
/// three members, the first that can represent them exactly:
/// - `json`: they are JSON without line ends and without surrounding whitespace, copied byte for byte;
/// - `text`: they are UTF-8;
/// - `base64`: they are anything.
enum Envelope {

    /// The first line of an export, without its line end. The number is the version of the format.
    static let header = #"{"$bodega":{"export":1}}"#

    /// The line for an item, with its line end.
    static func line(key: CacheKey, data: Data) -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("key", key.identity)
        if key.kind != .hashed { object.add("kind", key.kind.rawValue) }
        add(data, to: &object)
        return object.line()
    }

    /// Adds the member with the bytes of an item.
    static func add(_ data: Data, to object: inout JSONObjectWriter) {
        data.withUnsafeBytes { bytes in
            if !isValidUTF8(bytes) {
                object.add("base64", data.base64EncodedString())
            } else if isJSONOnOneLine(bytes) {
                object.add("json", json: bytes)
            } else {
                object.add("text", text: bytes)
            }
        }
    }

    private static func isJSONOnOneLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !bytes.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else { return false }
        return JSONScanner.document(bytes) == 0..<bytes.count
    }
}
