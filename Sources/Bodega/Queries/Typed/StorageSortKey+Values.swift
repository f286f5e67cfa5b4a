import Foundation
import RecordCoder

extension StorageSortKey {
    /// The place of the first element of a JSON array; `nil` if the text is not one, or is empty.
    init?(firstElementOf json: Data) {
        let key: StorageSortKey? = json.withUnsafeBytes { bytes in
            guard let document = JSONScanner.document(bytes),
                let element = JSONQuery(selectors: [.index(0)]).find(in: bytes, document)
            else { return nil }
            return StorageSortKey(bytes, element)
        }
        guard let key else { return nil }
        self = key
    }

    /// The place of a decoded value, as it would be stored.
    init(of value: Any, encodedBy coder: any ObjectCoder) throws {
        switch value {
        case let optional as any OptionalType:
            self = try optional.wrappedValue.map { try StorageSortKey(of: $0, encodedBy: coder) } ?? .none
        case let text as String: self = .text(text)
        case let bool as Bool: self = .integer(bool ? 1 : 0)
        case let number as Double: self = StorageSortKey(number)
        case let number as Float: self = StorageSortKey(Double(number))
        case let integer as any BinaryInteger:
            self = Int64(exactly: integer).map(Self.integer) ?? .real(Double(integer))
        case let date as Date: self = StorageSortKey(date.timeIntervalSinceReferenceDate)
        case let value as any Encodable:
            let stored = try (coder as? JSONObjectCoder ?? .json).encode([AnyEncodable(value)])
            self = StorageSortKey(firstElementOf: stored) ?? .none
        default:
            throw StorageError(
                .invalidArgument, "A query can't sort by a \(type(of: value)), which is neither a number nor text.")
        }
    }
}

private struct AnyEncodable: Encodable {
    private let value: any Encodable

    init(_ value: any Encodable) { self.value = value }

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
