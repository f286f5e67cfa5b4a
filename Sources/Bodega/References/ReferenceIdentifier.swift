import RecordCoder

/// An identifier as it is stored in an item.
///
/// Two are equal if their JSON values are. Unlike those of a ``StorageSortKey``, numbers are compared with all of their
/// digits: two integers beyond 64 bits that have the same nearest `Double` are two identifiers.
package struct ReferenceIdentifier: Hashable, Sendable {
    /// The place in an index. Others can have the same.
    package let sortKey: StorageSortKey
    /// The exact number, `nil` if the sort key is exact.
    private let number: JSONNumber?

    /// The identifier in a text that ``/RecordCoder/JSONScanner`` has accepted.
    init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        sortKey = StorageSortKey(bytes, range)
        number = Self.number(bytes[range], sortKey)
    }

    private static func number(_ text: Slice<UnsafeRawBufferPointer>, _ sortKey: StorageSortKey) -> JSONNumber? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let first = text.first, first == UInt8(ascii: "-") || digits.contains(first) else { return nil }
        guard case .integer(let integer) = sortKey else { return JSONNumber(text) }
        if text.elementsEqual("\(integer)".utf8) { return nil }
        let number = JSONNumber(text)
        return number == JSONNumber("\(integer)".utf8) ? nil : number
    }

    /// The identifier as a text for users.
    package var description: String {
        if let number { return number.text }
        switch sortKey {
        case .integer(let integer): return "\(integer)"
        case .real(let real): return "\(real)"
        case .text(let text):
            var bytes: [UInt8] = []
            JSONString.encode(text, into: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        case .none: return "nothing"
        }
    }
}
