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

    /// The condition of a partial index, `nil` if it has all items.
    package var condition: String? {
        if constants.isEmpty { return nil }
        let terms = zip(members, constants).map { member, key in
            switch key {
            case .integer(let integer): "\(member.path) = \(integer)"
            case .real(let number): "\(member.path) = \(number)"
            case .text(let text): "\(member.path) = \"\(text)\""
            case .none: "\(member.path) = null"
            }
        }
        return terms.joined(separator: " and ")
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
