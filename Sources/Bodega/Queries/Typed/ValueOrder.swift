import Foundation

/// The order of the values of a type: that of the type's own `<`, and `nil` after all values.
///
/// This is the only place that decides which types have sort keys in that order, and which types an index can sort.
/// Values of all other types are compared with `<` after they have been decoded.
struct ValueOrder {
    private enum Kind { case bool, integer, number, date, text, uuid, compared }

    private let kind: Kind
    /// The type, or that of the value if the type is an optional.
    let type: Any.Type
    let isOptional: Bool

    /// - Throws: ``StorageError/Code/invalidArgument`` if the values of the type have no order.
    init(_ type: Any.Type) throws(StorageError) {
        let optional = type as? any OptionalType.Type
        self.type = optional?.wrapped ?? type
        isOptional = optional != nil
        switch self.type {
        case is Bool.Type: kind = .bool
        case is Date.Type: kind = .date
        case is String.Type: kind = .text
        case is UUID.Type: kind = .uuid
        case let type where Self.integers.contains { $0 == type }: kind = .integer
        case is Double.Type, is Float.Type, is CGFloat.Type: kind = .number
        case is any Comparable.Type: kind = .compared
        default:
            throw StorageError(
                .invalidArgument, "A query can't sort by a \(type), because it is not Comparable.")
        }
    }

    /// A type of the standard library only: another type may have a `<` and a form in JSON of its own.
    private static let integers: [Any.Type] = {
        var types: [Any.Type] = [
            Int.self, Int64.self, UInt.self, UInt64.self, Int32.self, UInt32.self, Int16.self, UInt16.self, Int8.self,
            UInt8.self,
        ]
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            types += [Int128.self as Any.Type, UInt128.self]
        }
        return types
    }()

    /// The place of a value: its key, and what decides between values with equal keys.
    ///
    /// - Parameters:
    ///   - value: A value of the type.
    ///   - dates: How dates are stored, if an index over them has the order.
    func place(of value: Any, dates: DateForm?) -> (key: StorageSortKey, value: SwiftValue?) {
        guard let optional = isOptional ? value as? any OptionalType : nil else { return placeOfValue(value, dates) }
        return optional.wrappedValue.map { placeOfValue($0, dates) } ?? (.none, nil)
    }

    private func placeOfValue(_ value: Any, _ dates: DateForm?) -> (StorageSortKey, SwiftValue?) {
        switch (kind, value) {
        case (.bool, let bool as Bool):
            return (.integer(bool ? 1 : 0), nil)
        case (.integer, let integer as any BinaryInteger):
            if let integer = Int64(exactly: integer) { return (.integer(integer), nil) }
            // Several integers have one nearest Double.
            return (StorageSortKey(Double(integer)), SwiftValue(integer))
        case (.number, let number as any BinaryFloatingPoint):
            return (StorageSortKey(Double(number)), nil)
        case (.date, let date as Date):
            return (StorageSortKey(dates?.number(for: date) ?? date.timeIntervalSinceReferenceDate), nil)
        case (.text, let text as String):
            return (.text(SwiftText.normalized(text)), nil)
        case (.uuid, let uuid as UUID):
            return (.text(uuid.uuidString), nil)
        case (_, let value as any Comparable):
            return (.integer(0), SwiftValue(value))
        default:
            return (.none, nil)
        }
    }

    /// Returns the keys in an index whose order is that of the values.
    ///
    /// - Parameter coder: The coder of the values.
    /// - Returns: `nil` if an index has another order. Then Swift compares the values.
    func keys(inIndexOf coder: JSONObjectCoder) -> StorageSortKeyRanges? {
        let keys: StorageSortKeyRanges
        switch kind {
        case .integer:
            // Others are stored as numbers that have a place, too, but several of them have the same one.
            keys = StorageSortKeyRanges(.before(.integer(.min)), .after(.integer(.max)))
        case .number:
            // Several stored numbers are the same Float. Infinity and NaN can be stored as texts.
            guard type != Float.self, !coder.storesNonFiniteNumbers else { return nil }
            keys = Self.exactNumbers
        case .date:
            guard coder.dateForm != nil else { return nil }
            keys = Self.exactNumbers
        case .text:
            keys = .texts
        case .bool, .uuid, .compared:
            // A UUID can be stored in lower case, too.
            return nil
        }
        return isOptional ? keys.union(.none) : keys
    }

    /// The keys of stored numbers each of which is a `Double` of its own. Beyond 2^53, several stored integers are
    /// equal to one `Double`.
    private static let exactNumbers = StorageSortKeyRanges.numbers.subtracting(
        StorageSortKeyRanges(.before(.integer(.min)), .before(.integer(-1 << 53)))
            .union(StorageSortKeyRanges(.after(.integer(1 << 53)), .after(.integer(.max)))))

    /// Whether values of the type can have a key, without a value that Swift compares. That of NaN is none.
    func canHave(_ key: StorageSortKey) -> Bool {
        switch (key, kind) {
        case (.none, _): isOptional || kind == .number || kind == .date
        case (.text, .text), (.text, .uuid): true
        case (.integer, .bool), (.integer, .integer), (.integer, .number), (.integer, .date): true
        case (.real, .number), (.real, .date): true
        default: false
        }
    }

    var isText: Bool { kind == .text }

    /// Whether a stored key is that of the decoded value. Those of other texts and of large integers depend on the
    /// spelling.
    func isExact(_ stored: StorageSortKey) -> Bool {
        switch (kind, stored) {
        case (.integer, .integer(let integer)): integer.magnitude < 1 << 53
        case (.number, .integer), (.number, .real), (.date, .integer), (.date, .real):
            Self.exactNumbers.contains(stored)
        case (.text, .text(let text)): SwiftText.isSafe(text)
        case (.integer, .none), (.number, .none), (.date, .none), (.text, .none): isOptional
        default: false
        }
    }
}
