import Bodega
import Foundation
import RecordCoder

/// How to make the key of a record: its path in the record and its kind.
struct RecordKey: Sendable {
    /// The path to the key in the record.
    let path: JSONPath
    let kind: CacheKey.Kind
}

extension RecordKey {
    /// Moves a scanner past a value and makes a record from it.
    ///
    /// - Returns: The record, or the flaw of a value that is JSON but has no valid key.
    func record(from scanner: inout JSONScanner) throws(JSONScanError) -> Result<ImportRecord, RecordFlaw> {
        scanner.skipWhitespace()
        let start = scanner.position
        let keyRange = try scanner.skipValue(finding: path.names[...])
        let value = UnsafeRawBufferPointer(rebasing: scanner.bytes[start..<scanner.position])
        guard isValidUTF8(value) else { return .failure(RecordFlaw("It is not valid UTF-8.")) }
        guard let keyRange else { return .failure(RecordFlaw("It has no \"\(path)\", which --key names.")) }
        switch string(in: UnsafeRawBufferPointer(rebasing: scanner.bytes[keyRange])) {
        case .success(let string):
            guard let key = kind.key(string) else { return .failure(RecordFlaw("Its key \"\(string)\" is not a URL.")) }
            return .success(ImportRecord(key: key, data: Data(value)))
        case .failure(let flaw):
            return .failure(flaw)
        }
    }

    private func string(in value: UnsafeRawBufferPointer) -> Result<String, RecordFlaw> {
        switch value[0] {
        case UInt8(ascii: "\""):
            let content = UnsafeRawBufferPointer(rebasing: value[1..<value.count - 1])
            if let string = JSONString.decode(content) { return .success(string) }
            return .failure(RecordFlaw("Its \"\(path)\" contains a lone surrogate, so it can't be a key."))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return .success(String(decoding: value, as: UTF8.self))
        default:
            return .failure(RecordFlaw("Its \"\(path)\" is neither a string nor a number, so it can't be a key."))
        }
    }
}

extension CacheKey.Kind {
    /// Makes a key, `nil` if it would be that of a URL and the string is none.
    func key(_ string: String) -> CacheKey? {
        switch self {
        case .hashed: CacheKey(string)
        case .verbatim: CacheKey(verbatim: string)
        case .url: URL(string: string).map(CacheKey.init(url:))
        }
    }
}

/// The reason why a record is bad.
struct RecordFlaw: Error, Equatable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
