import Foundation

/// How a constant in a predicate is stored, as far as indexes can use it.
struct ConstantForm {
    /// The key of a stored value that is equal to the constant; `nil` for `nil`.
    let key: StorageSortKey?
    /// The keys of all stored values that may be equal to the constant.
    let equal: StorageSortKeyRanges
    /// The keys that stored values of the type can have.
    let all: StorageSortKeyRanges
    /// Whether the order of the keys is that of the values.
    let isOrdered: Bool
    /// Whether a stored value with the key is certainly equal to the constant.
    let isExact: Bool
    let needsTextIndex: Bool

    /// Whether an index over values of a type is one for text.
    static func isText(_ type: Any.Type) -> Bool {
        if type == String.self || type == Substring.self || type == UUID.self { return true }
        if let optional = type as? any OptionalType.Type { return isText(optional.wrapped) }
        if let raw = type as? any RawRepresentable.Type { return isText(rawValue: raw) }
        return false
    }

    private static func isText<Value: RawRepresentable>(rawValue type: Value.Type) -> Bool {
        isText(Value.RawValue.self)
    }

    /// Returns the form of a constant; `nil` if the coder may store it in another form.
    init?(_ value: Any, dates: DateForm?) {
        switch value {
        case let optional as any OptionalType:
            guard let value = optional.wrappedValue else {
                self.init(key: nil, equal: .none, all: .all, isOrdered: false, isExact: true)
                return
            }
            self.init(value, dates: dates)
        case let bool as Bool:
            let key = StorageSortKey.integer(bool ? 1 : 0)
            self.init(
                key: key, equal: StorageSortKeyRanges(key),
                all: StorageSortKeyRanges(.integer(0)).union(StorageSortKeyRanges(.integer(1))),
                isOrdered: false, isExact: true)
        case let integer as any BinaryInteger:
            guard let integer = Int64(exactly: integer) else { return nil }
            self.init(integer: integer)
        case let number as Double:
            self.init(number: number)
        case let number as Float:
            guard number.isFinite else { return nil }
            // A stored number counts as the nearest Float.
            let range = StorageSortKeyRanges(
                .before(StorageSortKey(Double(number.nextDown))), .after(StorageSortKey(Double(number.nextUp))))
            self.init(
                key: StorageSortKey(Double(number)), equal: range, all: .numbers, isOrdered: true, isExact: true)
        case let date as Date:
            guard let dates else { return nil }
            self.init(date: date, dates)
        case let uuid as UUID:
            let text = uuid.uuidString
            let keys = StorageSortKeyRanges(.text(text)).union(StorageSortKeyRanges(.text(text.lowercased())))
            self.init(
                key: .text(text), equal: keys, all: .texts, isOrdered: false, isExact: true, needsTextIndex: true)
        case let text as String:
            // An item with an equal text in another spelling is one about which an index for text knows nothing.
            let key = StorageSortKey.text(text.precomposedStringWithCanonicalMapping)
            self.init(
                key: key, equal: StorageSortKeyRanges(key), all: .texts, isOrdered: true, isExact: true,
                needsTextIndex: true)
        case let raw as any RawRepresentable & Encodable:
            self.init(rawValue: raw, dates: dates)
        default:
            return nil
        }
    }

    /// The sort key of all stored values that are equal to a value; `nil` if that depends on the coder, or if there are
    /// several.
    static func onlyKey(of value: Any) -> StorageSortKey? {
        guard let form = ConstantForm(value, dates: nil), form.equal.isOneKey else { return nil }
        return form.key ?? StorageSortKey.none
    }

    private init(
        key: StorageSortKey?, equal: StorageSortKeyRanges, all: StorageSortKeyRanges, isOrdered: Bool, isExact: Bool,
        needsTextIndex: Bool = false
    ) {
        (self.key, self.equal, self.all) = (key, equal, all)
        (self.isOrdered, self.isExact, self.needsTextIndex) = (isOrdered, isExact, needsTextIndex)
    }

    private init(integer: Int64) {
        let key = StorageSortKey.integer(integer)
        // One that is stored with a fraction or an exponent counts as the nearest Double.
        self.init(
            key: key, equal: StorageSortKeyRanges(nearest: Double(integer)), all: .numbers, isOrdered: true,
            isExact: integer.magnitude < 1 << 53)
    }

    private init?(number: Double) {
        // Infinity and NaN are stored as strings, if at all.
        guard number.isFinite else { return nil }
        let key = StorageSortKey(number)
        // An integer that is stored without a fraction has a key of its own.
        self.init(
            key: key, equal: StorageSortKeyRanges(nearest: number), all: .numbers, isOrdered: true, isExact: true)
    }

    private init?(date: Date, _ form: DateForm) {
        switch form {
        case .secondsSinceReferenceDate:
            self.init(number: date.timeIntervalSinceReferenceDate)
        case .seconds(let factor):
            let number = date.timeIntervalSince1970 * factor
            guard number.isFinite else { return nil }
            // The conversion rounds.
            let range = StorageSortKeyRanges(
                .before(StorageSortKey(number - factor)), .after(StorageSortKey(number + factor)))
            self.init(key: StorageSortKey(number), equal: range, all: .numbers, isOrdered: true, isExact: false)
        }
    }

    /// An enumeration is stored as its raw value unless it encodes itself in another way. The equality of other types
    /// can be another one than that of their raw values.
    private init?<Value: RawRepresentable & Encodable>(rawValue value: Value, dates: DateForm?) {
        guard Mirror(reflecting: value).displayStyle == .enum,
            value.rawValue is String || value.rawValue is any BinaryInteger,
            let form = ConstantForm(value.rawValue, dates: dates), Self.storedKey(of: value) == form.key,
            Self.isLikeNoOther(value)
        else { return nil }
        self.init(
            key: form.key, equal: form.equal, all: form.all, isOrdered: false, isExact: form.isExact,
            needsTextIndex: form.needsTextIndex)
    }

    /// Whether no other case of an enumeration is equal to a value, as far as its cases are known.
    private static func isLikeNoOther(_ value: Any) -> Bool {
        func count<Value: CaseIterable & Equatable>(_ value: Value) -> Int { Value.allCases.count { $0 == value } }
        guard let value = value as? any CaseIterable & Equatable else { return true }
        return count(value) <= 1
    }

    /// The key of a value as it is stored; `nil` if it can't be encoded, so that no item is equal to it.
    private static func storedKey(of value: some Encodable) -> StorageSortKey? {
        do {
            return StorageSortKey(firstElementOf: try JSONObjectCoder.json.encode([value]))
        } catch {
            // The predicate decides about each item then.
            return nil
        }
    }
}

/// An optional of any type.
protocol OptionalType {
    static var wrapped: Any.Type { get }
    var wrappedValue: Any? { get }
}

extension Optional: OptionalType {
    static var wrapped: Any.Type { Wrapped.self }
    var wrappedValue: Any? { self }
}
