import Foundation
import RecordCoder

extension MemoryIndex {
    /// The sort keys of items in an index.
    ///
    /// Numbers are exact. An item has no keys, and is irregular, in these cases:
    ///
    /// - It is not JSON in UTF-8.
    /// - Its text has an escaped half of a surrogate pair.
    /// - In an index for text, its text is not all of scalars for which equality of scalars is that of Swift's strings,
    ///   or it is a UUID in mixed case.
    /// - It has a number that is not written as an integer of 64 bits, and that is rounded to one.
    struct Keys: Sendable {
        private let index: StorageIndex
        private let members: [(query: JSONQuery, isForText: Bool)]

        init(_ index: StorageIndex) {
            self.index = index
            members = index.members.map { ($0.query, $0.isForText) }
        }

        /// What the index has for an item.
        enum Entry: Equatable {
            case keys([StorageSortKey])
            case irregular
            /// It is not in a partial index.
            case leftOut
        }

        func entry(of item: Data) -> Entry {
            item.withUnsafeBytes { bytes in
                guard isValidUTF8(bytes), let document = JSONScanner.document(bytes) else { return .irregular }
                for number in index.constants.indices {
                    guard let key = sortKey(members[number], bytes, document) else { continue }
                    if index.leavesOut(key, ofMember: number) { return .leftOut }
                }
                return sortKeys(bytes, document).map(Entry.keys) ?? .irregular
            }
        }

        /// The sort keys of an item, one for each member; `nil` if it is irregular.
        func sortKeys(of item: Data) -> [StorageSortKey]? {
            item.withUnsafeBytes { bytes in
                guard isValidUTF8(bytes), let document = JSONScanner.document(bytes) else { return nil }
                return sortKeys(bytes, document)
            }
        }

        private func sortKeys(_ bytes: UnsafeRawBufferPointer, _ document: Range<Int>) -> [StorageSortKey]? {
            var keys: [StorageSortKey] = []
            keys.reserveCapacity(members.count)
            for member in members {
                guard let key = sortKey(member, bytes, document) else { return nil }
                keys.append(key)
            }
            return keys
        }

        /// The sort key of a member, `nil` if it makes the item irregular.
        private func sortKey(
            _ member: (query: JSONQuery, isForText: Bool), _ bytes: UnsafeRawBufferPointer, _ document: Range<Int>
        ) -> StorageSortKey? {
            let range = member.query.find(in: bytes, document)
            let key = StorageSortKey(bytes, range)
            return key.isExact(bytes, range) && (!member.isForText || key.isComparable) ? key : nil
        }
    }
}

extension StorageSortKey {

    /// Whether the key is exactly the value that it was read from.
    ///
    /// - Parameters:
    ///   - bytes: A text.
    ///   - range: The range of the value in it, `nil` if there is none.
    fileprivate func isExact(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>?) -> Bool {
        guard let range, let first = range.first.map({ bytes[$0] }) else { return true }
        switch self {
        // A text without a key is no Unicode.
        case .none: return first != UInt8(ascii: "\"")
        case .integer(let integer):
            // Up to 15 digits, and below 2^53, a number is the only one with its `Double`.
            let digits = bytes[range].count { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            if digits <= 15, integer.magnitude < 1 << 53 { return true }
            let isBoolean = first == UInt8(ascii: "t") || first == UInt8(ascii: "f")
            return isBoolean || Int64(String(decoding: bytes[range], as: UTF8.self)) != nil
        // A query reads beyond a real number, because other engines know these only approximately.
        case .real, .text: return true
        }
    }

    /// Whether Swift's equality of the text is that of its scalars, and of the UUID, if it is one, that of its text.
    fileprivate var isComparable: Bool {
        guard case .text(let text) = self else { return true }
        // Most texts are of plain ASCII.
        let isPlain = text.utf8.allSatisfy { (0x20..<0x80).contains($0) }
        return (isPlain || SwiftText.isSafe(text)) && !text.isUUIDInMixedCase
    }
}

extension String {
    fileprivate var isUUIDInMixedCase: Bool {
        guard utf8.count == 36 else { return false }
        var (hasUppercase, hasLowercase) = (false, false)
        for (offset, byte) in utf8.enumerated() {
            if [8, 13, 18, 23].contains(offset), byte != UInt8(ascii: "-") { return false }
            if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) { hasUppercase = true }
            if (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) { hasLowercase = true }
        }
        return hasUppercase && hasLowercase
    }
}
