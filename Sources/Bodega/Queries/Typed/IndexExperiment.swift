import Foundation

/// Finds out whether the member of an index determines the property, by encoding an object and decoding variants of it.
///
/// A type decodes itself, so a member can mean anything: a missing one can be decoded as a value, another kind of value
/// as a default, an unknown text as a fallback. An index that excludes such records, or sorts by their keys, would
/// change the result. So it is used only if the decoder gives back the values that the member has, and refuses others.
///
/// A property that is not optional may have a value if the member is missing or `null`; such records are always
/// candidates.
struct IndexExperiment<Object: Codable> {
    let index: Index<Object>
    let coder: JSONObjectCoder

    enum Outcome {
        /// The object shows nothing.
        case unknown
        case determined
        case notDetermined
        /// The property has a value that is not in the member.
        case storedElsewhere
        /// The property is an optional with a value for which the type leaves the member out, so that a record without
        /// the member need not have `nil`.
        case leftOut
    }

    /// The values of all kinds that are put into the member: also those that decoders limit, round, trim, or treat as
    /// no value.
    private var variants: [String] {
        let long = String(repeating: "x", count: 5_000)
        let texts =
            wrappedType is UUID.Type
            ? [] : ["\" aB\u{E9} \"", #""\n\tx  y\r\n""#, "\"7\"", "\"\"", "\"\(long)\""]
        let numbers = ["7", "1.5", "1e9", "0", "-1", "-7", "0.123456789012345", "1e-9", "123456789012345.5"]
        return texts + ["true", "false"] + numbers + ["\"6F9619FF-8B86-D011-B42D-00CF4FC964FF\"", "[]", "{}"]
    }

    /// Other spellings of the raw value of an enumeration, which an `init(rawValue:)` of its own may accept, too.
    private func spellings(of value: StorageSortKey?) -> [String] {
        guard isEnumeration else { return [] }
        switch value {
        case .text(let text):
            let others = Set([text.uppercased(), text.lowercased(), text.capitalized, " \(text)", "\(text)\n"])
            return others.subtracting([text]).compactMap(literal)
        case .integer(let integer):
            let (tens, isLarge) = integer.multipliedReportingOverflow(by: 10)
            return isLarge ? [] : ["\(tens)", "\(-tens)"]
        default: return []
        }
    }

    func outcome(for object: Object) -> Outcome {
        guard let json = encoded(object) else { return .unknown }
        let value = key(of: object[keyPath: index.keyPath])
        if value == nil { return .notDetermined }
        var isKnown = value != StorageSortKey.none
        if isKnown, !hasValue(value, in: json) {
            guard leavesOut(value, of: json) else { return .storedElsewhere }
            if isOptional { return .leftOut }
            // Records without the member are candidates.
            isKnown = false
        }
        // No query uses such an index.
        if !isPlain, !isOptional { return .notDetermined }
        // The member can't tell an absent value from one that is nil.
        if wrappedType is any OptionalType.Type { return .notDetermined }
        // No variant is certainly a value of such a type.
        if !isKnown, !isPlain || isEnumeration { return .unknown }
        // Whether an object with a value in the member has that value in the property.
        var isFound = isKnown
        for variant in variants + spellings(of: value) {
            switch decode(json, setting: variant, at: index.storageIndex.first.names) {
            case .refused: continue
            case .impossible: return .unknown
            case .other: return .notDetermined
            case .same(let object):
                guard !isFound, let json = encoded(object) else { continue }
                // The object had no value, this one has.
                if !hasValue(key(of: object[keyPath: index.keyPath]), in: json) { return .notDetermined }
                isFound = true
            }
        }
        if isOptional {
            let names = index.storageIndex.first.names
            for count in 1...names.count {
                for absence in [nil, "null"] {
                    if case .other = decode(json, setting: absence, at: Array(names.prefix(count))) {
                        return .notDetermined
                    }
                }
            }
        }
        return isFound ? .determined : .unknown
    }

    /// Whether the property is stored in the member, and the type leaves the member out for a value, such as a default:
    /// then the property has the values that are put into the member, or the decoder refuses them.
    private func leavesOut(_ value: StorageSortKey?, of json: Data) -> Bool {
        guard isPlain, key(in: json) == .none else { return false }
        var isRefused = true
        for variant in variants {
            switch decode(json, setting: variant, at: index.storageIndex.first.names) {
            case .refused: continue
            case .same(let object) where key(of: object[keyPath: index.keyPath]) != value: return true
            case .same, .other, .impossible: isRefused = false
            }
        }
        return isEnumeration && isRefused
    }

    private var type: Any.Type { Swift.type(of: index.keyPath).valueType }
    private var isOptional: Bool { type is any OptionalType.Type }
    private var wrappedType: Any.Type { (type as? any OptionalType.Type)?.wrapped ?? type }

    /// Whether the key of a value is that of the stored one, so that the two can be compared.
    private var isPlain: Bool { isPlainForm(wrappedType) }

    private var isEnumeration: Bool {
        wrappedType is any RawRepresentable.Type
    }

    private enum Decoded {
        /// The decoder throws an error, if it is an enumeration's that of the standard library.
        case refused
        /// The property has the member's value.
        case same(Object)
        /// It has another one, or it is unknown which.
        case other
        /// There is no such member.
        case impossible
    }

    private func decode(_ json: Data, setting value: String?, at names: [String]) -> Decoded {
        guard let variant = JSONText.setting(names, to: value, in: json) else {
            return value == nil ? .refused : .impossible
        }
        let object: Object
        do {
            object = try coder.decode(Object.self, from: variant)
        } catch {
            // An enumeration with a decoder of its own can know more texts than those of its cases.
            let couldBeCase = value.map(isRawValue) ?? false
            return couldBeCase && !Self.isOfStandardDecoder(error) ? .other : .refused
        }
        let expected = key(in: variant)
        guard let actual = key(of: object[keyPath: index.keyPath]) else { return .other }
        if isPlain { return areEqual(actual, expected) ? .same(object) : .other }
        return (actual == .none) == (expected == .none) ? .same(object) : .other
    }

    /// Whether a JSON value could be one of the enumeration's raw values.
    private func isRawValue(_ json: String) -> Bool {
        func decode<Value: RawRepresentable>(_ type: Value.Type) throws {
            guard let raw = Value.RawValue.self as? any Decodable.Type else { return }
            func decode<Raw: Decodable>(_ type: Raw.Type) throws {
                _ = try coder.decode([Raw].self, from: Data("[\(json)]".utf8))
            }
            try decode(raw)
        }
        guard let type = wrappedType as? any RawRepresentable.Type else { return false }
        do {
            try decode(type)
            return true
        } catch {
            return false
        }
    }

    /// Whether an error is that with which the standard library refuses a raw value.
    private static func isOfStandardDecoder(_ error: any Error) -> Bool {
        guard case DecodingError.dataCorrupted(let context) = error else { return false }
        return context.debugDescription.hasPrefix("Cannot initialize ")
    }

    private func areEqual(_ actual: StorageSortKey, _ expected: StorageSortKey) -> Bool {
        if actual == expected { return true }
        guard let actual = actual.number, let expected = expected.number else { return false }
        if let float = wrappedType as? any BinaryFloatingPoint.Type { return areEqual(actual, expected, as: float) }
        // The conversion of a date to seconds since 2001, and back, rounds.
        guard wrappedType == Date.self, case .seconds(let factor) = coder.dateForm else { return false }
        let largest = max(abs(expected / factor), Date.timeIntervalBetween1970AndReferenceDate)
        return abs(actual - expected) <= 2 * largest.ulp * factor
    }

    /// Whether two numbers are the same one of a type with less precision.
    private func areEqual<Number: BinaryFloatingPoint>(
        _ first: Double, _ second: Double, as type: Number.Type
    ) -> Bool { Number(first) == Number(second) }

    private func encoded(_ object: Object) -> Data? {
        do {
            return try coder.encode(object)
        } catch {
            // The caller that encodes it reports this.
            return nil
        }
    }

    /// A text in JSON.
    private func literal(_ text: String) -> String? {
        do {
            return String(decoding: try coder.encode([text]).dropFirst().dropLast(), as: UTF8.self)
        } catch {
            return nil
        }
    }

    private func hasValue(_ key: StorageSortKey?, in json: Data) -> Bool {
        let stored = self.key(in: json)
        return isPlain ? stored == key : stored != .none
    }

    private func key(in json: Data) -> StorageSortKey {
        json.withUnsafeBytes { StorageSortKey($0, index.storageIndex.first.query.find(in: $0, 0..<$0.count)) }
    }

    /// The key of a value as the coder stores it; `nil` if it can't be stored alone.
    private func key(of value: Any) -> StorageSortKey? {
        func encode(_ value: some Encodable) throws -> Data { try coder.encode([value]) }
        if let optional = value as? any OptionalType, optional.wrappedValue == nil { return StorageSortKey.none }
        guard let value = value as? any Encodable else { return nil }
        do {
            return StorageSortKey(firstElementOf: try encode(value))
        } catch {
            return nil
        }
    }
}

/// Whether the key of a value of a type is that of the stored one.
func isPlainForm(_ type: Any.Type) -> Bool {
    type is String.Type || type is Bool.Type || type is Date.Type || type is UUID.Type
        || type is any BinaryInteger.Type || type is any BinaryFloatingPoint.Type || type is any RawRepresentable.Type
}

extension StorageSortKey {
    /// The number, `nil` if the key is none.
    fileprivate var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .real(let real): real
        case .text, .none: nil
        }
    }
}
