import RecordCoder

extension StorageIndex {

    /// Whether a partial index has no items with some sort key of a member of its condition.
    ///
    /// - Parameters:
    ///   - key: The sort key.
    ///   - number: The number of the member.
    package func leavesOut(_ key: StorageSortKey, ofMember number: Int) -> Bool {
        key != constants[number] && key != .none
    }

    /// Checks that an engine can have a partial index with this condition.
    ///
    /// - Throws: ``StorageError/Code/invalidArgument`` if it can't.
    package func checkCondition() throws {
        for key in constants where !key.canBeConstant {
            throw StorageError(
                .invalidArgument,
                """
                There can't be an index of the items\(conditionText): the value must be a Boolean, an integer below \
                2^48, a text of at most 200 bytes without control characters, or null.
                """)
        }
    }

    /// The condition of a partial index, with a word before it; otherwise empty.
    var conditionText: String { condition.map { " where \($0)" } ?? "" }

    /// The condition of a partial index as a filter expression, `nil` if it has all items.
    package var condition: String? {
        if constants.isEmpty { return nil }
        let terms = zip(members, constants).map { member, key in
            let value =
                switch key {
                case .integer(let integer): "\(integer)"
                case .real(let number): "\(number)"
                case .text(let text): text.inQuotes
                case .none: "null"
                }
            return "@\(member.names.map(\.asSegment).joined()) == \(value)"
        }
        return terms.joined(separator: " && ")
    }
}

extension String {
    /// The text as a string of a filter, without escapes if possible.
    fileprivate var inQuotes: String {
        if utf8.contains(UInt8(ascii: "\"")),
            !utf8.contains(where: { $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: "\\") })
        {
            return "'\(self)'"
        }
        var bytes: [UInt8] = []
        encode(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A name as a segment of a query, in quotes unless all of its characters are ASCII letters.
    fileprivate var asSegment: String {
        let isPlain = !isEmpty && utf8.allSatisfy { 0x61...0x7A ~= $0 | 0x20 }
        return isPlain ? ".\(self)" : "[\(inQuotes)]"
    }
}

extension StorageSortKey {
    /// Whether a partial index can have the key in its condition. About others, an engine can be wrong.
    package var canBeConstant: Bool {
        switch self {
        case .integer(let integer): integer.magnitude < 1 << 48
        case .real: false
        case .text(let text): text.utf8.count <= 200 && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        case .none: true
        }
    }
}
