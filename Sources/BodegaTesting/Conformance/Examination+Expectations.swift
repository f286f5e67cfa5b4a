import Bodega
import Foundation

extension Examination {

    func expect(_ holds: Bool, _ subject: String) {
        if !holds { record(subject, expected: "true", actual: "false") }
    }

    func expectEqual<Value: Equatable>(_ actual: Value, _ expected: Value, _ subject: String) {
        if actual != expected { record(subject, expected: described(expected), actual: described(actual)) }
    }

    /// Stored dates have millisecond precision, so dates that differ by less than half a millisecond are equal.
    func expectDate(_ actual: Date?, _ expected: Date?, _ subject: String) {
        switch (actual, expected) {
        case (nil, nil): return
        case (let actual?, let expected?):
            if abs(actual.timeIntervalSince(expected)) < 0.000_5 { return }
        default: break
        }
        record(subject, expected: described(expected as Any), actual: described(actual as Any))
    }

    /// Compares keys, exactly if the engine promises exact keys.
    func expectKeys(_ actual: [CacheKey], _ expected: [CacheKey], _ subject: String) {
        let (actual, expected) = (inComparableOrder(actual) { $0 }, inComparableOrder(expected) { $0 })
        expectEqualElements(actual, expected, subject, by: isSame)
    }

    /// Compares items, with exact keys if the engine promises them.
    func expectItems(_ actual: [Item], _ expected: [Item], _ subject: String) {
        let (actual, expected) = (inComparableOrder(actual, key: \.key), inComparableOrder(expected, key: \.key))
        expectEqualElements(actual, expected, subject) { isSame($0.key, $1.key) && $0.data == $1.data }
    }

    /// Compares values without keys, regardless of order if the engine promises none.
    func expectData(_ actual: [Data], _ expected: [Data], _ subject: String) {
        var (actual, expected) = (actual, expected)
        if !promises(.ordered) {
            actual.sort { $0.lexicographicallyPrecedes($1) }
            expected.sort { $0.lexicographicallyPrecedes($1) }
        }
        expectEqualElements(actual, expected, subject, by: ==)
    }

    private func isSame(_ left: CacheKey, _ right: CacheKey) -> Bool {
        promises(.exactKeys) ? left == right : left.value == right.value
    }

    /// Keeps the order of elements if the engine promises an order. Otherwise sorts them by the compared parts of their
    /// keys, byte by byte, because equal strings can have different bytes.
    private func inComparableOrder<Element>(_ elements: [Element], key: (Element) -> CacheKey) -> [Element] {
        guard !promises(.ordered) else { return elements }
        return elements.map { (comparableBytes(of: key($0)), $0) }
            .sorted { $0.0.lexicographicallyPrecedes($1.0) }
            .map(\.1)
    }

    /// The compared part of a key.
    func comparableBytes(of key: CacheKey) -> [UInt8] {
        Array((promises(.exactKeys) ? "\(key.kind.rawValue) \(key.rawValue)" : key.value).utf8)
    }

    private func expectEqualElements<Element>(
        _ actual: [Element],
        _ expected: [Element],
        _ subject: String,
        by isSame: (Element, Element) -> Bool
    ) {
        for (index, (one, other)) in zip(actual, expected).enumerated() where !isSame(one, other) {
            let place = "\(subject), at index \(index)"
            return record(place, expected: described(other), actual: described(one))
        }
        if actual.count != expected.count {
            record(
                "\(subject), the number of elements",
                expected: "\(expected.count)\(describedTail(expected, after: actual.count))",
                actual: "\(actual.count)\(describedTail(actual, after: expected.count))"
            )
        }
    }

    private func describedTail<Element>(_ elements: [Element], after count: Int) -> String {
        guard elements.count > count else { return "" }
        return ", ending with " + elements[count...].prefix(3).map { described($0) }.joined(separator: ", ")
    }
}

/// A text in a form that fits on a line, with escapes for invisible characters, so that two spellings of it differ.
func described(text: String) -> String {
    func escaped(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        scalars.map { $0.escaped(asASCII: true) }.joined()
    }
    let (scalars, limit) = (text.unicodeScalars, 60)
    // Avoid counting: this is called for each item, and a key can be long.
    guard scalars.dropFirst(limit * 2).first != nil else { return "\"\(escaped(scalars))\"" }
    return "\"\(escaped(scalars.prefix(limit)))…\(escaped(scalars.suffix(limit / 4)))\" (\(text.utf8.count) bytes)"
}

/// A value in a form that fits on a line.
func described(_ value: Any) -> String {
    switch value {
    case let data as Data:
        return "\(data.count) bytes"
            + (data.isEmpty ? "" : " (\(data.prefix(8).map { "\($0)" }.joined(separator: " "))…)")
    case let item as Item:
        return "\(described(item.key)) = \(described(item.data))"
    case let key as CacheKey:
        return "\(key.kind.rawValue):\(described(text: key.rawValue))"
    case let date as Date:
        return "\(date.timeIntervalSince1970) s"
    default:
        let mirror = Mirror(reflecting: value)
        return mirror.displayStyle == .optional && mirror.children.isEmpty ? "nothing" : "\(value)"
    }
}
